// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A key of a job file, with the kind of its value.
struct JobFileKey: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    /// A text, a number, `true` or `false`, which is used as it is written.
    case text
    /// The name of a queue.
    case queueName
    /// A number and a unit, such as `10s`. A duration of zero may not be allowed.
    case duration(allowsZero: Bool)
    case integer(ClosedRange<Int>)
    /// `true` or `false`.
    case boolean
    case choice([String])
    /// A list of texts.
    case list
    case mapping
  }

  let name: String
  let kind: Kind

  static let run = JobFileKey(name: "run", kind: .text)
  static let needs = JobFileKey(name: "needs", kind: .list)
  static let each = JobFileKey(name: "each", kind: .mapping)
  static let once = JobFileKey(name: "once", kind: .boolean)
  static let when = JobFileKey(
    name: "when", kind: .choice(JobPlan.Condition.allCases.map(\.rawValue)))
  static let queue = JobFileKey(name: "queue", kind: .queueName)
  static let priority = JobFileKey(
    name: "priority", kind: .choice(JobPlan.Priority.allCases.map(\.rawValue)))
  static let retries = JobFileKey(name: "retries", kind: .integer(0...1_000))
  static let retryPause = JobFileKey(name: "retry-pause", kind: .duration(allowsZero: true))
  static let timeout = JobFileKey(name: "timeout", kind: .duration(allowsZero: false))
  static let grace = JobFileKey(name: "grace", kind: .duration(allowsZero: true))
  static let shell = JobFileKey(name: "shell", kind: .text)
  static let slurm = JobFileKey(name: "slurm", kind: .mapping)
  static let partition = JobFileKey(name: "partition", kind: .text)
  static let cpus = JobFileKey(name: "cpus", kind: .integer(1...65_536))
  static let memory = JobFileKey(name: "memory", kind: .text)
  static let time = JobFileKey(name: "time", kind: .duration(allowsZero: false))
  static let gpus = JobFileKey(name: "gpus", kind: .integer(0...65_536))
  static let options = JobFileKey(name: "options", kind: .list)
  static let width = JobFileKey(name: "width", kind: .integer(1...10_000))
  static let rate = JobFileKey(name: "rate", kind: .integer(1...1_000_000))
  static let queues = JobFileKey(name: "queues", kind: .mapping)
  static let defaults = JobFileKey(name: "defaults", kind: .mapping)
  static let environment = JobFileKey(name: "environment", kind: .mapping)
  static let jobs = JobFileKey(name: "jobs", kind: .mapping)
}

/// A mapping of a job file whose keys are fixed.
enum JobFileSection: CaseIterable {
  case file, queue, defaults, job, slurm

  /// The keys of the mapping, in the order of the reference page.
  var keys: [JobFileKey] {
    switch self {
    case .file: [.queues, .defaults, .environment, .jobs]
    case .queue: [.width, .rate]
    case .defaults: Self.settings
    case .job: [.run, .needs, .each, .when, .once] + Self.settings
    case .slurm: [.partition, .cpus, .memory, .time, .gpus, .options]
    }
  }

  /// The keys of a job that can have a default in the file.
  private static let settings: [JobFileKey] = [
    .queue, .priority, .timeout, .retries, .retryPause, .grace, .shell, .slurm,
  ]
}
