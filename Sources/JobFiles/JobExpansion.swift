// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Expands the declarations of a file: `each` becomes several jobs, and the texts of needs become indices.
struct JobExpansion {
  private let declarations: [JobDeclaration]
  /// The indices of the jobs of each declaration.
  private let groups: [String: Range<Int>]
  /// The index of each job with values in its id.
  private var indices: [String: Int] = [:]
  /// The ids of all jobs.
  private var ids: [String] = []

  /// Assigns ids to the jobs.
  init(_ declarations: [JobDeclaration]) throws(JobFileMistake) {
    self.declarations = declarations
    var groups: [String: Range<Int>] = [:]
    var count = 0
    var needCount = 0
    for declaration in declarations {
      let size = try declaration.jobCount(limit: JobPlan.maximumJobCount - count)
      groups[declaration.name] = count..<count + size
      count += size
      needCount += size * declaration.needs.count
      guard needCount <= JobPlan.maximumNeedCount else {
        throw JobFileMistake(
          declaration.line, "the jobs of the file have more than 10,000,000 needs")
      }
    }
    self.groups = groups
    ids.reserveCapacity(count)
    for declaration in declarations {
      guard !declaration.choices.isEmpty else {
        ids.append(declaration.name)
        continue
      }
      try declaration.forEachCombination { values in
        let id = "\(declaration.name)[\(values.map(\.value).joined(separator: ","))]"
        indices[id] = ids.count
        ids.append(id)
      }
    }
  }

  /// Returns the jobs in the order of the file.
  func jobs() throws(JobFileMistake) -> [JobPlan.Job] {
    var jobs: [JobPlan.Job] = []
    jobs.reserveCapacity(ids.count)
    for declaration in declarations {
      var needs: [NeedTemplate] = []
      for need in declaration.needs { needs.append(try NeedTemplate(need, of: declaration)) }
      // A need without variables is the same for all jobs of the declaration.
      var constants: [Range<Int>?] = []
      for need in needs {
        constants.append(
          need.isConstant ? try find(need.text(with: []), need.line, declaration.title) : nil)
      }
      try declaration.forEachCombination { values throws(JobFileMistake) in
        var ranges: [Range<Int>] = []
        var known: Set<Range<Int>> = []
        for (need, constant) in zip(needs, constants) {
          let range =
            if let constant { constant } else {
              try find(need.text(with: values), need.line, "the job \(ids[jobs.count].quoted)")
            }
          if needs.count == 1 || known.insert(range).inserted { ranges.append(range) }
        }
        jobs.append(declaration.job(id: ids[jobs.count], needs: ranges, variables: values))
      }
    }
    return jobs
  }

  /// Returns the indices of the jobs that a need names.
  private func find(
    _ need: String, _ line: Int, _ title: String
  ) throws(JobFileMistake) -> Range<Int> {
    if let group = groups[need] { return group }
    if let index = indices[need] { return index..<index + 1 }
    // If the text names the values of a known job, one of the ids of this job was probably meant.
    let group = groups[String(need.prefix { $0 != "[" })]
    let names = group.map { Array(ids[$0]) } ?? declarations.map(\.name)
    throw JobFileMistake(
      line, "\(title) needs the unknown job \(need.quoted)" + .advice(need, names, "jobs"))
  }
}

extension JobDeclaration {
  /// Returns the number of combinations of the values of `each`, which must be at most the limit.
  fileprivate func jobCount(limit: Int) throws(JobFileMistake) -> Int {
    var count = 1
    var length = name.utf8.count + 1
    for choice in choices {
      // The number of values is limited by the size of the file, so the product does not overflow.
      count *= choice.values.count
      guard count <= limit else { throw .tooManyJobs(line) }
      length += 1 + (choice.values.map(\.utf8.count).max() ?? 0)
    }
    guard count <= limit else { throw .tooManyJobs(line) }
    guard choices.isEmpty || length <= JobName.longestID else {
      throw JobFileMistake(
        line, "\(title) with its values has a name of more than 1,000 bytes")
    }
    return count
  }

  /// Calls a closure with each combination of the values of `each`. The values of the last variable change
  /// first. Without `each`, the closure is called once.
  fileprivate func forEachCombination(
    _ body: ([JobPlan.Variable]) throws(JobFileMistake) -> Void
  ) throws(JobFileMistake) {
    var positions = Array(repeating: 0, count: choices.count)
    while true {
      try body(
        zip(choices, positions).map { choice, position in
          JobPlan.Variable(name: choice.name, value: choice.values[position])
        })
      var column = choices.count - 1
      while column >= 0, positions[column] == choices[column].values.count - 1 {
        positions[column] = 0
        column -= 1
      }
      guard column >= 0 else { return }
      positions[column] += 1
    }
  }

  fileprivate func job(
    id: String, needs: [Range<Int>], variables: [JobPlan.Variable]
  ) -> JobPlan.Job {
    JobPlan.Job(
      id: id, group: name, line: line, command: command, queue: settings.queue, needs: needs,
      variables: variables, retries: settings.retries, retryPause: settings.retryPause,
      timeout: settings.timeout, grace: settings.grace, shell: settings.shell,
      priority: settings.priority, isOnce: isOnce, condition: condition,
      slurm: settings.slurm)
  }
}

/// The text of a need, in which variables of `each` can occur.
private struct NeedTemplate {
  private enum Part {
    case text(String)
    /// The index of a variable.
    case variable(Int)
  }

  private var parts: [Part] = []
  let line: Int

  /// Parses a need, such as `align[$SAMPLE]`.
  init(_ need: (text: String, line: Int), of job: JobDeclaration) throws(JobFileMistake) {
    line = need.line
    var rest = Substring(need.text).utf8
    while let index = rest.firstIndex(of: UInt8(ascii: "$")) {
      parts.append(.text(String(Substring(rest[..<index]))))
      rest = rest[rest.index(after: index)...]
      var name = String(Substring(rest.prefix(while: JobName.isInVariable)))
      rest = rest.dropFirst(name.utf8.count)
      if name.isEmpty, rest.first == UInt8(ascii: "{"),
        let end = rest.firstIndex(of: UInt8(ascii: "}"))
      {
        name = String(Substring(rest[..<end].dropFirst()))
        rest = rest[rest.index(after: end)...]
      }
      guard let variable = job.choices.firstIndex(where: { $0.name == name }) else {
        throw JobFileMistake(
          line,
          "the need \(need.text.quoted) of \(job.title) has the variable \(name.quoted), which is not in \"each\""
            + .advice(name, job.choices.map(\.name), "variables"))
      }
      parts.append(.variable(variable))
    }
    parts.append(.text(String(Substring(rest))))
  }

  /// Whether the need has no variables.
  var isConstant: Bool { parts.count == 1 }

  /// Returns the need with the values of a job.
  func text(with values: [JobPlan.Variable]) -> String {
    var text = ""
    for part in parts {
      switch part {
      case .text(let constant): text += constant
      case .variable(let index): text += values[index].value
      }
    }
    return text
  }
}
