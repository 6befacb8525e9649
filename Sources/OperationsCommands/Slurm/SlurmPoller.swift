// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// Calls `squeue` for the jobs of all operations of a cluster, while operations wait.
final class SlurmPoller: Sendable {
  /// A job whose operation waits.
  struct Watch: Sendable {
    /// The comment of the job; `nil` until a job was submitted. Until then, answers of `squeue` are not delivered.
    var comment: String?
    /// The files of the job that are read in the same call; `nil` if no files are read.
    var look: SlurmLook?
    let deliver: @Sendable (SlurmJob.Event) -> Void
  }

  /// A job that will not execute its command, and that Slurm may show later, for example because the answer of `sbatch`
  /// was lost.
  private struct AbandonedJob {
    let request: SlurmCanceller.Request
    /// The time at which the job was abandoned. Answers of calls that began earlier are ignored.
    let since = ContinuousClock.now
    /// The number of answers that may still show the job.
    var remainingAnswers = SlurmJob.absencesUntilForgotten
  }

  private struct State {
    var watches: [Int: Watch] = [:]
    /// The abandoned jobs by their comments.
    var abandoned: [String: AbandonedJob] = [:]
    var lastNumber = 0
    var isRunning = false
    var lastStart: ContinuousClock.Instant?
  }

  private let calls: SlurmCalls
  private let canceller: SlurmCanceller
  private let interval: Duration
  private let state = Locked(State())

  init(calls: SlurmCalls, canceller: SlurmCanceller, interval: Duration) {
    self.calls = calls
    self.canceller = canceller
    self.interval = interval
  }

  /// Adds a job without a comment.
  ///
  /// - Parameter deliver: A closure that is called with the answers, from a task without an operation.
  /// - Returns: The number of the job.
  func add(_ deliver: @escaping @Sendable (SlurmJob.Event) -> Void) -> Int {
    state.withLock { state in
      state.lastNumber += 1
      state.watches[state.lastNumber] = Watch(deliver: deliver)
      return state.lastNumber
    }
  }

  /// Sets the comment of a job, and begins to call `squeue`. Answers of a call that began earlier are not delivered.
  func begin(_ number: Int, comment: String) {
    changeAndAsk { $0.watches[number]?.comment = comment }
  }

  /// Cancels a job that will not execute its command if one of the next answers shows it. No operation waits for this
  /// job.
  func abandon(_ request: SlurmCanceller.Request) {
    changeAndAsk { state in
      state.abandoned[request.submission.comment] = AbandonedJob(request: request)
    }
  }

  private func changeAndAsk(_ change: (inout State) -> Void) {
    let begins = state.withLock { state in
      change(&state)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if begins { Task.detached { await self.ask() } }
  }

  /// Sets the files of a job that are read in the next calls.
  func setLook(_ look: SlurmLook, of number: Int) {
    state.withLock { $0.watches[number]?.look = look }
  }

  /// Removes a job. A running call may still deliver an answer.
  func remove(_ number: Int) { _ = state.withLock { $0.watches.removeValue(forKey: number) } }

  /// Calls `squeue` until no operation waits, and no abandoned job can appear.
  private func ask() async {
    while true {
      let last = state.withLock { $0.lastStart }
      if let last { try? await Task.sleep(until: last + interval, clock: .continuous) }
      let watches = state.withLock { state -> [Int: Watch]? in
        let watches = state.watches.filter { $0.value.comment != nil }
        if watches.isEmpty, state.abandoned.isEmpty {
          state.isRunning = false
          return nil
        }
        state.lastStart = .now
        return watches
      }
      guard let watches else { return }
      await ask(for: watches)
    }
  }

  private func ask(for watches: [Int: Watch]) async {
    let watches = watches.sorted { $0.key < $1.key }
    let looks = watches.compactMap(\.value.look)
    let marker = SlurmCalls.marker()
    let begin = ContinuousClock.now
    let jobs: Result<[SlurmRecord], SlurmCallFailure>
    var files: [SlurmFileContents]?
    do throws(SlurmCallFailure) {
      let output = try await calls.run(SlurmScript.queue(looks: looks, marker: marker))
      (jobs, files) = SlurmAnswer.queue(output, looks: looks, marker: marker)
    } catch {
      jobs = .failure(error)
    }
    let records = (try? jobs.get()).map { Dictionary(grouping: $0, by: \.comment) }
    var next = 0
    for (number, watch) in watches {
      // The files come first: they were read after the queue, so they contain the exit status of a job that has ended.
      if watch.look != nil {
        if let files { watch.deliver(.files(files[next])) }
        next += 1
      }
      // If the job was submitted again during the call, the answer is about the earlier submission.
      guard state.withLock({ $0.watches[number]?.comment == watch.comment }) else { continue }
      switch jobs {
      case .success: watch.deliver(.queue(.records(watch.comment.flatMap { records?[$0] } ?? [])))
      case .failure(let failure): watch.deliver(.queue(.failure(failure.reason)))
      }
    }
    if let records { cancelAbandoned(in: records, ofCallSince: begin) }
  }

  /// Cancels the abandoned jobs that an answer shows. A job that two answers do not show is not in Slurm.
  private func cancelAbandoned(
    in records: [String: [SlurmRecord]], ofCallSince begin: ContinuousClock.Instant
  ) {
    let requests = state.withLock { state in
      var requests: [SlurmCanceller.Request] = []
      for (comment, job) in state.abandoned where job.since <= begin {
        // A job that is ending was cancelled before. Its end can take hours if its node does not answer.
        let found = records[comment]?.first {
          job.request.submission.isSubmission(of: $0) && !$0.state.meaning.isEnd
            && $0.state.meaning != .ending
        }
        if let found {
          var submission = job.request.submission
          submission.id = found.id
          requests.append(.init(submission: submission, files: job.request.files))
          state.abandoned[comment]?.remainingAnswers = SlurmJob.absencesUntilForgotten
        } else if job.remainingAnswers == 1 {
          state.abandoned[comment] = nil
        } else {
          state.abandoned[comment]?.remainingAnswers -= 1
        }
      }
      return requests
    }
    for request in requests { Task.detached { _ = await self.canceller.cancel(request) } }
  }
}
