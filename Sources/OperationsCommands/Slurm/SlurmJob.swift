// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The job of one command: decides what to do next from the answers of Slurm, the files of the job, and the time.
///
/// The methods are called in the order of the events, and return what the caller must do. They call nothing.
struct SlurmJob: Sendable {
  private enum Phase {
    /// `sbatch` runs.
    case submitting
    /// The job was submitted, or may have been.
    case submitted
    /// The submission is being revoked, so that the job cannot start.
    case revoking
    /// Slurm's record of the exit status is awaited.
    case asking(SlurmState)
    case finished
  }

  /// The number of answers of `squeue` without the job after which the job counts as forgotten by Slurm.
  static let absencesUntilForgotten = 2
  /// The number of lost submissions after which the operation fails.
  static let mostSubmissions = 10
  /// The number of answers without the job after which a refused or cancelled job ends, even if its files cannot be
  /// changed.
  private static let absencesUntilEnd = 6
  /// The time for which Slurm can show a job as running before its wrapper has started. After this time, the time limit
  /// of the command begins even if no file shows the wrapper.
  private static let preparationLimit = Duration.seconds(600)

  /// The last submission; `nil` before the first one.
  private(set) var submission: SlurmSubmission?
  /// Whether the command runs, according to Slurm or to the wrapper.
  private(set) var isRunning = false
  /// Whether the wrapper of the command has started, according to its files.
  var hasStarted: Bool { wrapper.sign != nil || status != nil }
  /// How the command has ended, according to the wrapper; `nil` if it has not ended.
  private(set) var status: SlurmFileContents.Status?
  /// Whether the job has ended and cannot start again. Then its files are not needed.
  private(set) var hasEnded = false
  /// Whether the start of the last submission was prevented.
  private(set) var isRevoked = false
  /// Whether the command has exceeded its time limit. Then the job is cancelled, like that of a cancelled operation.
  private(set) var hasExpired = false

  private let timeout: Duration?
  /// The time at which the command has started, as far as it is known; `nil` if it does not run.
  private var start: Duration?
  /// Whether Slurm shows the job as `RUNNING`. While nodes boot, Slurm shows another state.
  private var isShownAsRunning = false
  private var runningSince: Duration?
  private var phase = Phase.submitted
  private var isStopped = false
  private var submissionCount = 0
  private var absences = 0
  /// The words with which `sbatch` has refused the job; `nil` unless a refused submission is being revoked.
  private var refusal: String?
  /// The comment of the submission that Slurm has shown as cancelled although it had not started.
  private var cancelledComment: String?
  private var wrapper: SlurmWrapper
  private var lastStatus = "submitted"
  private var lastReport: String?
  private var lastReason: String?

  /// Creates the state of a job.
  ///
  /// - Parameters:
  ///   - submission: The submission of an earlier process, which may have been submitted; `nil` for a command that was
  ///     not submitted.
  ///   - wrapperLimit: The time after which a wrapper counts as dead if its file has not changed.
  ///   - timeout: The time limit of the command, which begins with its start on the node; `nil` for no limit.
  init(
    adopting submission: SlurmSubmission? = nil, wrapperLimit: Duration = SlurmWrapper.usualLimit,
    timeout: Duration? = nil
  ) {
    self.submission = submission
    self.timeout = timeout
    wrapper = SlurmWrapper(limit: wrapperLimit)
  }

  /// Returns the first actions. Called once, before all events.
  mutating func begin() -> [Action] {
    if submission == nil { return submit() }
    return [.report("looking for the job in Slurm")]
  }

  /// Notes a submission that the caller has prepared. The caller then calls `sbatch`.
  mutating func noteSubmission(_ submission: SlurmSubmission) { self.submission = submission }

  /// Takes an event.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - time: The time since any fixed moment. It does not decrease.
  ///   - now: The wall clock in seconds since 1970, for texts.
  /// - Returns: The actions, in their order.
  mutating func take(_ event: Event, at time: Duration, now: Int64) -> [Action] {
    if case .finished = phase { return [] }
    return takeEvent(event, at: time, now: now) + checkTime(time)
  }

  private mutating func takeEvent(_ event: Event, at time: Duration, now: Int64) -> [Action] {
    switch event {
    case .submission(let answer): return takeSubmission(answer)
    case .queue(.records(let records)): return takeRecords(records, now: now)
    case .queue(.failure(let reason)): return takeFailure(reason)
    case .files(let contents): return takeFiles(contents, at: time)
    case .revocation(let result): return takeRevocation(result, at: time)
    case .cancellation(let result): return takeCancellation(result)
    case .exit(let answer): return takeExit(answer)
    case .stop: return stop()
    case .time: return []
    }
  }

  private mutating func stop() -> [Action] {
    isStopped = true
    guard isWaiting else { return [] }
    return submission?.id == nil ? revoke() : [.cancel]
  }

  /// Measures the time in which the command runs. If it exceeds the time limit, the job is cancelled.
  private mutating func checkTime(_ time: Duration) -> [Action] {
    guard isRunning else {
      // Slurm may start the job a second time.
      (start, runningSince) = (nil, nil)
      return []
    }
    if !hasStarted {
      // Without a sign of the wrapper, only the state of Slurm can show that the command has started.
      runningSince = isShownAsRunning ? runningSince ?? time : nil
      guard let runningSince, time - runningSince >= Self.preparationLimit else { return [] }
    }
    let begin = start ?? time
    start = begin
    guard let timeout, time - begin >= timeout, status == nil, !isStopped, isWaiting else {
      return []
    }
    hasExpired = true
    return stop()
  }

  // MARK: Submission

  private mutating func submit() -> [Action] {
    submissionCount += 1
    phase = .submitting
    absences = 0
    lastStatus = "submitted"
    // These values describe the earlier submission.
    (isRunning, isRevoked) = (false, false)
    (status, lastReason, refusal) = (nil, nil, nil)
    wrapper = SlurmWrapper(limit: wrapper.limit)
    return [.report("submitting"), .submit]
  }

  private mutating func takeSubmission(_ answer: Submission) -> [Action] {
    guard case .submitting = phase else { return [] }
    phase = .submitted
    switch answer {
    case .accepted(let id):
      submission?.id = id
      return [.note, .report("submitted")] + (isStopped ? [.cancel] : [])
    case .refused(let words):
      // An error can follow after the controller has accepted the job.
      refusal = words
      return revoke()
    case .unusableFiles(let line): return finish(isStopped ? .stopped : .unusableFiles(line))
    case .unclear(let reason):
      // The job may have been submitted. Then one of the next answers of `squeue` shows its comment.
      return isStopped ? revoke() : report("submission not confirmed: \(reason)")
    }
  }

  // MARK: Answers of squeue

  private mutating func takeRecords(
    _ records: [SlurmRecord], now: Int64
  ) -> [Action] {
    guard let submission, isWaiting else { return [] }
    // If Slurm has several jobs with the comment, only one of them runs the command, and the others end at once.
    let own = records.filter {
      // In a federation, a job with this state runs on another cluster.
      submission.isSubmission(of: $0) && $0.state.description != "REVOKED"
    }
    guard let found = own.first(where: { !$0.state.meaning.isEnd }) ?? own.last else {
      return takeAbsence()
    }
    (absences, refusal) = (0, nil)
    var actions: [Action] = []
    if submission.id != found.id || submission.submitted != found.submitted {
      self.submission?.id = found.id
      self.submission?.submitted = found.submitted
      actions.append(.note)
    }
    isRunning = found.state.meaning == .running || found.state.meaning == .ending
    isShownAsRunning = found.state.description == "RUNNING"
    if found.state.meaning.isEnd {
      return actions + (wasNotStarted(found) ? revoke() : takeEnd(found.state))
    }
    lastStatus = SlurmWords.status(of: found, now: now)
    actions += isRunning ? reportPlace(lastStatus) : report(lastStatus)
    if found.state.meaning == .pending, found.reason != lastReason {
      lastReason = found.reason
      if let sentence = SlurmWords.sentence(aboutReason: found.reason) {
        actions.append(.log("Slurm has not started the job: \(sentence) (\(found.reason))"))
      }
    }
    // Slurm may not have received the earlier request.
    if isStopped, found.state.meaning != .ending { actions.append(.cancel) }
    return actions
  }

  /// Whether Slurm has given nodes to a job and has not started it there, for example because another job on a node has
  /// its id. A job that its user cancels while it is pending has no nodes.
  ///
  /// Slurm shows a job that it could not start, and a job that its user cancels during the start, in the same way. So a
  /// command is submitted again only once after such an end. The user can cancel the second job.
  private mutating func wasNotStarted(_ record: SlurmRecord) -> Bool {
    guard !isStopped, !hasStarted, !record.nodes.isEmpty else { return false }
    if record.state.meaning == .cancelled {
      cancelledComment = cancelledComment ?? record.comment
      return cancelledComment == record.comment
    }
    return ["BOOT_FAIL", "LAUNCH_FAILED", "NODE_FAIL"].contains(record.state.description)
  }

  /// The request to cancel the job has ended. A job that had not started cannot start, so the operation finishes. For
  /// another job, a later answer of `squeue` shows the end, or the request is repeated.
  private mutating func takeCancellation(_ result: Cancellation) -> [Action] {
    guard isWaiting, isStopped, !isRunning, case .revoked(let isReceived) = result else {
      return []
    }
    (hasEnded, isRevoked) = (true, true)
    return (isReceived ? [] : [.abandon]) + finish(.stopped)
  }

  /// Slurm shows the end of the job.
  private mutating func takeEnd(_ state: SlurmState) -> [Action] {
    // A node that Slurm cannot reach may still run the command.
    if state.description == "NODE_FAIL", status == nil, wrapper.isAlive {
      return awaitWrapper("Slurm shows the node as failed")
    }
    // Slurm may have started the job a second time, and the second start may have ended at once.
    if state.meaning == .failed, status == nil, !isStopped || wrapper.isAlive {
      phase = .asking(state)
      return [.askExit]
    }
    hasEnded = true
    if isStopped { return finish(.stopped) }
    switch state.meaning {
    case .aborted, .cancelled: return finish(.ended(state))
    case .completed, .failed, .pending, .running, .ending:
      // The wrapper of a revoked job exits with another status, so the exit status 0 is that of the command.
      return finish(status.map(Self.end) ?? .exited(0))
    }
  }

  /// Waits for a command that runs although Slurm does not show its job as running. Only the wrapper can end it.
  private mutating func awaitWrapper(_ reason: String) -> [Action] {
    phase = .submitted
    isRunning = true
    return report("running, but \(reason)") + (isStopped ? [.cancel] : [])
  }

  /// Slurm does not show the job.
  private mutating func takeAbsence() -> [Action] {
    if let status { return finish(isStopped ? .stopped : Self.end(status)) }
    absences += 1
    guard absences >= Self.absencesUntilForgotten else { return [] }
    if wrapper.sign == nil {
      let end = isStopped ? End.stopped : refusal.map { .refused($0) }
      if let end, absences >= Self.absencesUntilEnd { return [.abandon] + finish(end) }
      return revoke()
    }
    if !wrapper.isAlive { return finish(isStopped ? .stopped : .lost) }
    return awaitWrapper("Slurm does not know the job")
  }

  private mutating func takeFailure(_ reason: String) -> [Action] {
    guard isWaiting else { return [] }
    if let status, isStopped || status != .exited(0) {
      return finish(isStopped ? .stopped : Self.end(status))
    }
    if isStopped || refusal != nil, !isRunning { return revoke() }
    return report("\(lastStatus), Slurm does not answer: \(reason)")
  }

  // MARK: Files

  private mutating func takeFiles(_ contents: SlurmFileContents, at time: Duration) -> [Action] {
    let earlier = wrapper.sign
    guard wrapper.note(contents, at: time, isUrgent: isStopped) else { return [] }
    if let sign = wrapper.sign, sign != earlier {
      isRunning = true
      // Without a sign, the start was only assumed.
      if earlier == nil { start = nil }
      // An earlier process may have waited for the job. The wrapper counts the time from the start.
      if let age = SlurmFiles.age(ofSign: sign) { start = min(start ?? time, time - age) }
    }
    // A job that Slurm starts a second time deletes the file.
    status = contents.status
    guard let status else { return [] }
    guard isWaiting || isAsking else { return [] }
    // Slurm may show why the command has failed, so the next answer of `squeue` is awaited.
    if isAsking || status == .exited(0) && !isStopped { return finish(Self.end(status)) }
    return []
  }

  private mutating func takeExit(_ answer: ExitAnswer) -> [Action] {
    guard isAsking else { return [] }
    if let status { return finish(isStopped ? .stopped : Self.end(status)) }
    switch answer {
    case .failure(let reason):
      // The next answer of `squeue` shows the end again.
      phase = .submitted
      return report("ended, but Slurm does not answer: \(reason)")
    case .record(let exit) where exit.status == SlurmExit.revoked:
      // A second start of the job has found no permit. The first start may still be running.
      if !hasStarted { return revoke() }
      if wrapper.isAlive { return awaitWrapper("Slurm shows a second start that has ended") }
      return finish(isStopped ? .stopped : .lost)
    case .record(let exit):
      hasEnded = true
      if isStopped { return finish(.stopped) }
      guard !hasStarted, exit.isAboutFiles else { return finish(.recorded(exit)) }
      return finish(.unusableFiles("the node cannot use the directory of the cluster"))
    case .noRecord:
      if wrapper.isAlive { return awaitWrapper("Slurm does not know the job") }
      hasEnded = true
      return finish(isStopped ? .stopped : .unknown)
    }
  }

  // MARK: Revocation

  private mutating func revoke() -> [Action] {
    phase = .revoking
    return [.revoke]
  }

  private mutating func takeRevocation(_ result: Revocation, at time: Duration) -> [Action] {
    guard case .revoking = phase else { return [] }
    phase = .submitted
    switch result {
    case .revoked:
      if isStopped { return endWithoutStart(.stopped) }
      if let refusal { return endWithoutStart(.refused(refusal)) }
      if submissionCount >= Self.mostSubmissions { return endWithoutStart(.neverStarted) }
      let line = "Slurm has lost the job before its start; it is submitted again"
      return [.abandon, .log(line)] + submit()
    case .started:
      // The file of the wrapper will appear, so the job is awaited.
      refusal = nil
      wrapper.noteStart(at: time)
      return isStopped ? [.cancel] : []
    case .unclear(let reason): return report("the start cannot be prevented: \(reason)")
    }
  }

  /// Finishes after the submission was revoked. Slurm may show the job later.
  private mutating func endWithoutStart(_ end: End) -> [Action] {
    (hasEnded, isRevoked) = (true, true)
    return [.abandon] + finish(end)
  }

  // MARK: Common parts

  private var isWaiting: Bool { if case .submitted = phase { true } else { false } }
  private var isAsking: Bool { if case .asking = phase { true } else { false } }

  private mutating func finish(_ end: End) -> [Action] {
    phase = .finished
    if status != nil { hasEnded = true }
    return [.finish(end)]
  }

  private mutating func report(_ text: String) -> [Action] {
    if text == lastReport { return [] }
    lastReport = text
    return [.report(text)]
  }

  private mutating func reportPlace(_ text: String) -> [Action] {
    report(text).isEmpty ? [] : [.reportPlace(text)]
  }

  private static func end(_ status: SlurmFileContents.Status) -> End {
    switch status {
    case .exited(let number): .exited(number)
    case .notStarted(let obstacle): .notStarted(obstacle)
    }
  }
}
