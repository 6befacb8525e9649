// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A job of any user and any program, as `squeue` shows it. A task of an array is a job. The tasks of an array that
/// Slurm has not separated yet are one job together.
package struct WatchedSlurmJob: Hashable, Sendable {
  /// The id of the job. After its largest id, Slurm begins again with the first id. Before that, no other job gets the
  /// same id.
  ///
  /// When Slurm separates the last task of an array, this task keeps the id of the tasks that were one job before.
  package let id: UInt64
  /// The id in Slurm's notation, such as `12`, `12_3` for a task, and `12_[4-9%2]` for tasks that are one job. Slurm
  /// may shorten it.
  package let name: String
  /// The id of the array; the id of the job if it belongs to no array.
  package let arrayID: UInt64
  /// The tasks of the array; `nil` if the job belongs to no array.
  package let tasks: SlurmTasks?
  /// The state.
  package let state: SlurmState
  /// Why the job is pending or has failed, in Slurm's words; empty if Slurm names no reason.
  package let reason: String
  /// The time of the submission, in seconds since 1970; `nil` if Slurm knows none.
  package let submitted: Int64?
  /// The real or expected time of the start, in seconds since 1970; `nil` if Slurm knows none.
  package let start: Int64?
  /// The real or expected time of the end, in seconds since 1970; `nil` if Slurm knows none.
  package let end: Int64?
  /// The nodes, in Slurm's notation such as `n[1-2]`; empty before the start.
  package let nodes: String
  /// The partition. Before the start, it is the first one of those that the job can use.
  package let partition: String
  /// The name of the user.
  package let user: String
  /// The quality of service; empty if there is none.
  package let qualityOfService: String
  /// The priority among the jobs of Slurm, from 0 to 4,294,967,295; `nil` if Slurm shows none. A pending job with the
  /// priority 0 is held.
  package let priority: UInt64?
  /// The dependencies that Slurm shows. Usually Slurm removes a dependency when it is fulfilled.
  package let dependencies: [SlurmDependency]
  /// Whether the job has a dependency that is not fulfilled. Dependencies that are not on another job, such as
  /// `singleton`, also count.
  package let hasUnmetDependencies: Bool
  /// The name that the user has chosen, unsanitised. It can contain any characters, including line feeds.
  package let jobName: String

  private static let separator = SlurmRecord.separator

  /// The fields of a line of `squeue` after the marker. The name is the last one, because it can contain separators.
  private static let fields = [
    "%i", "%A", "%F", "%K", "%T", "%r", "%V", "%S", "%e", "%N", "%P", "%u", "%q", "%Q", "%E", "%j",
  ]

  /// Returns the format of a line, for the option `-o` of `squeue`. Each job begins with a marker, because the name of
  /// a job can contain lines that look like those of other jobs.
  static func format(marker: String) -> String {
    ([marker] + fields).joined(separator: separator)
  }

  /// Reads the fields after the marker; `nil` if they are not in this format.
  init?(fields text: some StringProtocol) {
    let fields = text.split(
      separator: Character(Self.separator), maxSplits: Self.fields.count - 1,
      omittingEmptySubsequences: false
    ).map { String($0) }
    guard fields.count == Self.fields.count, let id = UInt64(fields[1]) else { return nil }
    func known(_ text: String) -> String { text == "(null)" ? "" : text }
    self.id = id
    name = fields[0]
    arrayID = UInt64(fields[2]) ?? id
    tasks = SlurmTasks(fields[3])
    state = SlurmState(fields[4])
    reason = fields[5] == "None" ? "" : known(fields[5])
    submitted = SlurmRecord.time(fields[6])
    start = SlurmRecord.time(fields[7])
    end = SlurmRecord.time(fields[8])
    nodes = known(fields[9])
    partition = fields[10].split(separator: ",").first.map { String($0) } ?? ""
    user = fields[11]
    qualityOfService = known(fields[12])
    priority = UInt64(fields[13])
    let dependencies = known(fields[14])
    self.dependencies = SlurmDependency.all(in: dependencies)
    hasUnmetDependencies = dependencies.split { $0 == "," || $0 == "?" }.contains {
      !$0.hasSuffix("(fulfilled)")
    }
    jobName = known(fields[15])
  }

  /// Reads the output of `squeue` with the format of ``format(marker:)``. Text before the first marker is skipped.
  package static func all(in output: some StringProtocol, marker: String) -> [WatchedSlurmJob] {
    let beginning = marker + separator
    var texts: [String] = []
    // Swift counts a carriage return and a line feed as one character, so the bytes are split.
    let lines = output.utf8.split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for line in lines.map({ String(decoding: $0, as: UTF8.self) }) {
      if line.hasPrefix(beginning) {
        texts.append(String(line.dropFirst(beginning.count)))
      } else if let last = texts.indices.last {
        texts[last] += "\n\(line)"
      }
    }
    return texts.compactMap { WatchedSlurmJob(fields: $0) }
  }
}

extension WatchedSlurmJob {
  /// Whether the job is pending because a user, an administrator or Slurm holds it. It can have dependencies too.
  package var isHeld: Bool {
    guard state.meaning == .pending else { return false }
    // Among pending jobs, only held ones have the priority 0.
    return priority == 0 || state.isHeld
      || reason.split(separator: ",").contains {
        $0 == "JobHeldUser" || $0 == "JobHeldAdmin" || $0 == "JobHoldMaxRequeue"
      }
  }

  /// Returns words without a full stop about the state of the job and, if it is pending, about the reason, such as
  /// “pending: Priority; Slurm starts jobs with a higher priority first”.
  ///
  /// - Parameter now: The time in seconds since 1970.
  /// - Returns: The words.
  package func statusWords(now: Int64) -> String {
    let isPending = state.meaning == .pending
    // The expected start of a pending job is left out if it is in the past.
    let start = isPending ? start.flatMap { $0 > now ? $0 : nil } : start
    let status = SlurmWords.status(state, reason: reason, start: start, nodes: nodes, now: now)
    guard isPending, let sentence = SlurmWords.sentence(aboutReason: reason) else { return status }
    guard reason == "Priority", let priority else { return "\(status); \(sentence)" }
    return "\(status); \(sentence) (the priority of this job is \(priority))"
  }

  /// Why the job has failed, in words without a full stop; `nil` if it has not failed.
  package var failureWords: String? {
    switch state.meaning {
    case .failed:
      if reason.isEmpty || reason == "NonZeroExitCode" {
        return "it ended with an exit status that is not 0"
      }
      if reason.hasPrefix("RaisedSignal") { return "it ended by a signal: \(reason)" }
      return "it has failed: \(reason)"
    case .aborted:
      let word = state.description
      return SlurmWords.sentence(about: state).map { "\(word): \($0)" }
        ?? "Slurm has ended it: \(word)"
    case .pending, .running, .ending, .completed, .cancelled: return nil
    }
  }

  /// The id for commands that change the job and no other one; `nil` if Slurm shows only a part of the tasks, or if the
  /// tasks are too many for a command.
  package var commandID: String? {
    guard let tasks else { return "\(id)" }
    return tasks.list.map { "\(arrayID)_\($0)" }
  }
}
