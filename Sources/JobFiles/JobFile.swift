// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A job file whose keys and values were checked, before `each` and the needs are expanded.
struct JobFile {
  /// The queues in the order of the file. The queue `default` is last if the file does not declare it.
  let queues: [JobPlan.Queue]
  let declaresDefaultQueue: Bool
  let environment: [JobPlan.Variable]
  let declarations: [JobDeclaration]

  /// Reads the tree of a job file.
  ///
  /// - Parameters:
  ///   - tree: The content of the file.
  ///   - processorCount: The width of queues without a width.
  /// - Throws: The first mistake in the file.
  init(_ tree: JobFileNode, processorCount: Int) throws(JobFileMistake) {
    let fields = try JobFileFields(tree, .file, owner: "the file")
    var queues: [JobPlan.Queue] = []
    for entry in try fields.entries(.queues) {
      try JobName.check(entry.key, entry.line, "a queue")
      let values = try JobFileFields(entry.value, .queue, owner: "the queue \(entry.key.quoted)")
      queues.append(
        JobPlan.Queue(
          name: entry.key, width: try values.integer(.width) ?? processorCount,
          startsPerSecond: try values.integer(.rate)))
    }
    declaresDefaultQueue = queues.contains { $0.name == JobDeclaration.defaultQueue }
    if !declaresDefaultQueue { queues.append(.standard(processorCount)) }
    self.queues = queues

    var environment: [JobPlan.Variable] = []
    for entry in try fields.entries(.environment) {
      try JobName.checkVariable(entry.key, entry.line)
      let value = try entry.value.text(of: "the variable \(entry.key.quoted)")
      environment.append(JobPlan.Variable(name: entry.key, value: value))
    }
    self.environment = environment

    let names = queues.map(\.name)
    var defaults = JobDeclaration.Settings()
    if let node = fields.node(.defaults) {
      let values = try JobFileFields(node, .defaults, owner: "\"defaults\"")
      defaults = try JobDeclaration.Settings(values, defaults: defaults, queues: names)
    }
    var declarations: [JobDeclaration] = []
    for entry in try fields.entries(.jobs) {
      declarations.append(try JobDeclaration(entry, defaults: defaults, queues: names))
    }
    guard !declarations.isEmpty else {
      throw JobFileMistake(fields.node(.jobs)?.line ?? tree.line, "the file has no jobs")
    }
    self.declarations = declarations
  }
}

extension JobPlan.Queue {
  /// Returns the queue of jobs without a queue, with the number of processors as its width.
  static func standard(_ processorCount: Int) -> Self {
    Self(name: JobDeclaration.defaultQueue, width: max(1, processorCount), startsPerSecond: nil)
  }
}

extension JobPlan {
  /// The maximum number of jobs of a plan.
  package static let maximumJobCount = 100_000
  /// The maximum number of needs of all jobs. A need for all jobs of a group counts once.
  package static let maximumNeedCount = 10_000_000

  /// Reads a job file.
  ///
  /// - Parameters:
  ///   - bytes: The content of the file: JSON if the name ends with `.json`, otherwise YAML.
  ///   - name: The name of the file, for messages.
  ///   - processorCount: The number of available processors, which is the width of queues without a width.
  /// - Throws: The first mistake in the file.
  package init(file bytes: [UInt8], name: String, processorCount: Int) throws(JobFileError) {
    do throws(JobFileMistake) {
      let text = try JobFileMistake.validText(bytes)
      let isJSON = name.lowercased().hasSuffix(".json")
      guard let tree = try isJSON ? JSONReader.tree(of: bytes) : YAMLReader.tree(of: text) else {
        throw JobFileMistake(1, "the file is empty")
      }
      let file = try JobFile(tree, processorCount: max(1, processorCount))
      self.init(
        queues: file.queues, environment: file.environment,
        jobs: try JobExpansion(file.declarations).jobs())
      if let cycle = JobGraph(jobs).cycle { throw mistake(about: cycle) }
      if !file.declaresDefaultQueue { removeDefaultQueueIfUnused() }
    } catch {
      throw JobFileError(file: name, line: error.line, message: error.message)
    }
  }

  /// Reads a file in which each line is a command.
  ///
  /// Empty lines and lines that begin with `#` are skipped. A file without commands is valid.
  ///
  /// - Parameters:
  ///   - bytes: The content of the file.
  ///   - name: The name of the file, for messages.
  ///   - processorCount: The number of available processors, which is the width of the queue.
  /// - Throws: The first mistake in the file.
  package init(lines bytes: [UInt8], name: String, processorCount: Int) throws(JobFileError) {
    do throws(JobFileMistake) {
      let text = try JobFileMistake.validText(bytes)
      var declarations: [JobDeclaration] = []
      var number = 0
      for line in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
        number += 1
        guard let command = String(Substring(line)).command else { continue }
        guard !command.utf8.contains(0) else {
          throw JobFileMistake(number, "the command has a null character")
        }
        guard declarations.count < Self.maximumJobCount else {
          throw JobFileMistake.tooManyJobs(number)
        }
        declarations.append(JobDeclaration("line-\(number)", number, command: command))
      }
      self.init(
        queues: [.standard(processorCount)], environment: [],
        jobs: try JobExpansion(declarations).jobs())
    } catch {
      throw JobFileError(file: name, line: error.line, message: error.message)
    }
  }

  private mutating func removeDefaultQueueIfUnused() {
    let name = JobDeclaration.defaultQueue
    if !jobs.contains(where: { $0.queue == name }) { queues.removeAll { $0.name == name } }
  }

  /// Describes a cycle of needs.
  private func mistake(about cycle: [Int]) -> JobFileMistake {
    var names = cycle.prefix(10).map { EscapedText.escaped(jobs[$0].id) }
    if cycle.count > names.count { names.append("... (\(cycle.count - names.count) more)") }
    names.append(names[0])
    return JobFileMistake(
      jobs[cycle[0]].line, "the needs form a cycle: " + names.joined(separator: " -> "))
  }
}

extension JobFileMistake {
  static func tooManyJobs(_ line: Int) -> Self {
    Self(line, "the file has more than 100,000 jobs")
  }

  /// Returns the text of a file that is valid UTF-8.
  static func validText(_ bytes: [UInt8]) throws(JobFileMistake) -> String {
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    // The text is decoded again, because the position of the mistake is needed.
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    var line = 1
    while case .scalarValue(let scalar) = decoder.decode(&iterator) {
      if scalar == "\n" { line += 1 }
    }
    throw JobFileMistake(line, "the file is not UTF-8 text")
  }
}

extension String {
  /// The line as a command; `nil` if the line is empty or a comment.
  fileprivate var command: String? {
    let text = utf8.last == UInt8(ascii: "\r") ? String(unicodeScalars.dropLast()) : self
    guard let first = text.first(where: { !$0.isWhitespace }), first != "#" else { return nil }
    return text
  }
}
