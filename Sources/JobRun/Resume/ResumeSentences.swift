// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import MonitorProtocol

/// What people must know about the decisions of a resume: one sentence for all jobs of a kind, however many there are.
struct ResumeSentences {
  /// The number of names in a sentence.
  static let nameLimit = 5
  /// The number of sentences about jobs whose state is not known.
  static let unknownLimit = 5

  /// The sentences without full stops. Characters that control a terminal are escaped.
  private(set) var sentences: [String] = []

  /// Creates the sentences about results.
  init(_ plan: JobPlan, _ results: [ResumeResult], _ removed: RemovedJobs) {
    var names: [ResumeResult.Remark: [String]] = [:]
    var unknown: [String] = []
    for (job, result) in zip(plan.jobs, results) {
      guard let remark = result.remark else { continue }
      if case .unknown(let sentence) = remark {
        unknown.append("\(job.id): \(sentence)")
      } else {
        names[remark, default: []].append(job.id)
      }
    }
    for (remark, one, several) in Self.texts { add(names[remark] ?? [], one, several) }
    for reason in [nil] + ResumeResult.WaitReason.allCases {
      add(waiting: names[.waits(reason)] ?? [], reason)
    }
    add(
      removed.ids, "is no longer in the job file, and is ignored",
      "are no longer in the job file, and are ignored")
    add(
      removed.running.filter { $0.submission != nil }.map(\.id),
      "is no longer in the job file, but was submitted to the cluster, and its end is awaited",
      "are no longer in the job file, but were submitted to the cluster, and their ends are awaited"
    )
    add(
      removed.running.filter { $0.submission == nil }.map(\.id),
      "is no longer in the job file, but its command still runs, and its end is awaited",
      "are no longer in the job file, but their commands still run, and their ends are awaited")
    unknown += removed.unknown
    sentences += unknown.prefix(Self.unknownLimit).map { EscapedText.escaped($0) }
    if unknown.count > Self.unknownLimit {
      sentences.append("the same is true for \(unknown.count - Self.unknownLimit) more jobs")
    }
  }

  /// The remarks in the order of the sentences, with the words about one job and about several jobs.
  private static let texts: [(ResumeResult.Remark, one: String, several: String)] = [
    (.retried, "runs again as requested", "run again as requested"),
    (
      .behindRetry, "runs because of this retry", "run because of this retry"
    ),
    (
      .adopted, "still runs, and its end is awaited", "still run, and their ends are awaited"
    ),
    (
      .adoptedOutdated,
      "still runs as it was started before a change; it runs again at the next resume",
      "still run as they were started before a change; they run again at the next resume"
    ),
    (
      .adoptedOutdatedOnce,
      "still runs as it was started before a change; at the next resume, it waits for \"opq-top retry\"",
      "still run as they were started before a change; at the next resume, they wait for \"opq-top retry\""
    ),
    (
      .submitted, "was submitted to the cluster, and its end is awaited",
      "were submitted to the cluster, and their ends are awaited"
    ),
    (
      .submittedOutdated,
      "was submitted to the cluster before a change; it runs again at the next resume",
      "were submitted to the cluster before a change; they run again at the next resume"
    ),
    (
      .submittedOutdatedOnce,
      "was submitted to the cluster before a change; at the next resume, it waits for \"opq-top retry\"",
      "were submitted to the cluster before a change; at the next resume, they wait for \"opq-top retry\""
    ),
    (
      .taken, "has ended without a runner, and its exit status is taken",
      "have ended without a runner, and their exit statuses are taken"
    ),
    (
      .lost, "was lost: no process and no exit status was found; it runs again",
      "were lost: no processes and no exit statuses were found; they run again"
    ),
    (
      .orphaned,
      "still runs, but its shim was killed; its command is ended, and it runs again",
      "still run, but their shims were killed; their commands are ended, and they run again"
    ),
    (
      .orphanedAndBlocked,
      "still runs, but its shim was killed; its command is ended, and it is skipped",
      "still run, but their shims were killed; their commands are ended, and they are skipped"
    ),
    (
      .interrupted, "was cancelled with the run, and runs",
      "were cancelled with the run, and run"
    ),
    (.changed, "has changed, and runs again", "have changed, and run again"),
    (
      .behindChange, "runs, because a job before it runs again",
      "run, because jobs before them run again"
    ),
    (
      .blocked, "no longer counts as ended, and is skipped, because a need has not succeeded",
      "no longer count as ended, and are skipped, because needs have not succeeded"
    ),
  ]

  private mutating func add(_ names: [String], _ one: String, _ several: String) {
    guard !names.isEmpty else { return }
    sentences.append("\(Self.list(names)) \(names.count == 1 ? one : several)")
  }

  private mutating func add(waiting names: [String], _ reason: ResumeResult.WaitReason?) {
    guard !names.isEmpty else { return }
    let verb = names.count == 1 ? "waits" : "wait"
    let cause =
      switch (reason, names.count == 1) {
      case (nil, _): ""
      case (.lost, true): ", because its end is not known"
      case (.lost, false): ", because their ends are not known"
      case (.changed, true): ", because it has changed since it ran"
      case (.changed, false): ", because they have changed since they ran"
      case (.behindChange, true): ", because a job before it runs again"
      case (.behindChange, false): ", because jobs before them run again"
      case (.interrupted, true): ", because it was cancelled with the run"
      case (.interrupted, false): ", because they were cancelled with the run"
      }
    sentences.append(
      "\(Self.list(names)) must not run twice, and \(verb) for \"opq-top retry\"\(cause)")
  }

  /// Returns names as words, such as `a, b and c`, or `a, b, c, d, e and 95 more`.
  static func list(_ names: [String]) -> String {
    var words = names.prefix(nameLimit).map { EscapedText.escaped($0) }
    if names.count > nameLimit { words.append("\(names.count - nameLimit) more") }
    guard let last = words.popLast() else { return "" }
    return words.isEmpty ? last : "\(words.joined(separator: ", ")) and \(last)"
  }
}
