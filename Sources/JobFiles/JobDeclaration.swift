// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A job as the file declares it: with `each` as lists of values, and needs as texts.
struct JobDeclaration {
  /// A variable of `each` with its values.
  struct Choice {
    let name: String
    let values: [String]
  }

  /// The values of the keys that can have a default in the file.
  struct Settings {
    var queue = JobDeclaration.defaultQueue
    var priority = JobPlan.Priority.normal
    var timeout: Duration?
    var retries = 0
    var retryPause = Duration.seconds(1)
    var grace = Duration.seconds(10)
    var shell = "/bin/sh"
    var slurm = JobPlan.SlurmRequest()
  }

  /// The name of the queue that exists without a declaration.
  static let defaultQueue = "default"

  let name: String
  let line: Int
  let command: String
  let needs: [(text: String, line: Int)]
  let choices: [Choice]
  let isOnce: Bool
  let condition: JobPlan.Condition
  let settings: Settings

  /// The name of the job as it appears in messages.
  var title: String { "the job \(name.quoted)" }

  init(_ name: String, _ line: Int, command: String) {
    self.name = name
    self.line = line
    self.command = command
    needs = []
    choices = []
    isOnce = false
    condition = .success
    settings = Settings()
  }

  /// Reads a job of a file.
  ///
  /// - Parameters:
  ///   - entry: The name of the job and its value.
  ///   - defaults: The settings of jobs without the keys.
  ///   - queues: The names of the queues.
  /// - Throws: The first mistake in the job.
  init(
    _ entry: JobFileNode.Entry, defaults: Settings, queues: [String]
  ) throws(JobFileMistake) {
    name = entry.key
    line = entry.line
    try JobName.check(name, line, "a job")
    let title = "the job \(name.quoted)"
    let fields = try JobFileFields(entry.value, .job, owner: title)
    guard let run = try fields.text(.run) else {
      throw JobFileMistake(line, "\(title) has no \"run\"")
    }
    command = run.text
    needs = try fields.texts(.needs)
    isOnce = try fields.boolean(.once) ?? false
    condition = try fields.choice(.when, JobPlan.Condition.self) ?? .success
    guard condition != .failure || !needs.isEmpty else {
      throw JobFileMistake(line, "\(title) has \"when: failure\", but it needs no job")
    }
    settings = try Settings(fields, defaults: defaults, queues: queues)
    var choices: [Choice] = []
    for entry in try fields.entries(.each) { choices.append(try Choice(entry, title)) }
    guard fields.node(.each) == nil || !choices.isEmpty else {
      throw JobFileMistake(line, "\"each\" of \(title) has no variable")
    }
    self.choices = choices
  }
}

extension JobDeclaration.Settings {
  /// Reads the settings of a job, or the defaults of a file.
  init(_ fields: JobFileFields, defaults: Self, queues: [String]) throws(JobFileMistake) {
    self = defaults
    if let (queue, line) = try fields.text(.queue) {
      guard queues.contains(queue) else {
        throw JobFileMistake(
          line,
          "\(fields.owner) uses the unknown queue \(queue.quoted)"
            + .advice(queue, queues, "queues"))
      }
      self.queue = queue
    }
    priority = try fields.choice(.priority, JobPlan.Priority.self) ?? priority
    timeout = try fields.duration(.timeout) ?? timeout
    retries = try fields.integer(.retries) ?? retries
    retryPause = try fields.duration(.retryPause) ?? retryPause
    grace = try fields.duration(.grace) ?? grace
    shell = try fields.text(.shell)?.text ?? shell
    if let node = fields.node(.slurm) {
      let values = try JobFileFields(node, .slurm, owner: "\"slurm\" of \(fields.owner)")
      slurm = try JobPlan.SlurmRequest(values, defaults: slurm)
    }
  }
}

extension JobDeclaration.Choice {
  /// Reads a variable of `each`.
  ///
  /// The values are a part of ids. Therefore they cannot contain the characters that separate values in an id,
  /// the character that begins a variable in a need, or characters that control a terminal.
  init(_ entry: JobFileNode.Entry, _ title: String) throws(JobFileMistake) {
    try JobName.checkVariable(entry.key, entry.line)
    let owner = "\(entry.key.quoted) in \"each\" of \(title)"
    var values: [String] = []
    var known: Set<String> = []
    for (value, line) in try entry.value.texts(of: owner) {
      guard
        value.unicodeScalars.allSatisfy({
          !$0.isObeyed && $0 != "," && $0 != "[" && $0 != "]" && $0 != "$"
        })
      else {
        throw JobFileMistake(
          line,
          "the value \(value.quoted) of \(owner) has a comma, a bracket, a \"$\" or a control character"
        )
      }
      guard known.insert(value).inserted else {
        throw JobFileMistake(line, "the value \(value.quoted) of \(owner) is given twice")
      }
      values.append(value)
    }
    guard !values.isEmpty else { throw JobFileMistake(entry.line, "\(owner) has no values") }
    self.init(name: entry.key, values: values)
  }
}
