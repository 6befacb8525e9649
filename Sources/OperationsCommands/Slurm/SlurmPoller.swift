// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// Asks Slurm for the jobs of all operations of a cluster together, while operations wait.
final class SlurmPoller: Sendable {
  /// A job whose operation waits.
  struct Watch: Sendable {
    /// The comment of the job; `nil` as long as no job was submitted. Then the answer of `squeue` says nothing.
    var comment: String?
    /// What is read from the files of the job together with the queue; `nil` for nothing.
    var look: SlurmLook?
    let deliver: @Sendable (SlurmJob.Event) -> Void
  }

  private struct State {
    var watches: [Int: Watch] = [:]
    var lastNumber = 0
    var isRunning = false
    var lastStart: ContinuousClock.Instant?
  }

  private let calls: SlurmCalls
  private let interval: Duration
  private let state = Locked(State())

  init(calls: SlurmCalls, interval: Duration) {
    self.calls = calls
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

  /// Sets the comment of a job, and begins to ask. Answers of a call that began earlier are not delivered.
  func begin(_ number: Int, comment: String) {
    let begins = state.withLock { state in
      state.watches[number]?.comment = comment
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if begins { Task.detached { await self.ask() } }
  }

  /// Sets what is read from the files of a job.
  func setLook(_ look: SlurmLook, of number: Int) {
    state.withLock { $0.watches[number]?.look = look }
  }

  /// Removes a job. A call that runs may deliver an answer afterwards.
  func remove(_ number: Int) { _ = state.withLock { $0.watches.removeValue(forKey: number) } }

  /// Asks until no job waits.
  private func ask() async {
    while true {
      let last = state.withLock { $0.lastStart }
      if let last { try? await Task.sleep(until: last + interval, clock: .continuous) }
      let watches = state.withLock { state -> [Watch] in
        let watches = state.watches.values.filter { $0.comment != nil }
        if watches.isEmpty {
          state.isRunning = false
        } else {
          state.lastStart = .now
        }
        return watches
      }
      if watches.isEmpty { return }
      await ask(for: watches)
    }
  }

  private func ask(for watches: [Watch]) async {
    let looks = watches.compactMap(\.look)
    let marker = SlurmCalls.marker()
    let jobs: Result<[SlurmRecord], SlurmCallFailure>
    var files: [SlurmFileContents]?
    do throws(SlurmCallFailure) {
      let output = try await calls.run(SlurmScript.queue(looks: looks, marker: marker))
      (jobs, files) = SlurmAnswer.queue(output, looks: looks, marker: marker)
    } catch {
      jobs = .failure(error)
    }
    let records = Dictionary(grouping: (try? jobs.get()) ?? []) { $0.comment }
    var next = 0
    for watch in watches {
      // The files come first: they were read after the queue, so they contain the exit status of a job that has ended.
      if watch.look != nil {
        if let files { watch.deliver(.files(files[next])) }
        next += 1
      }
      switch jobs {
      case .success: watch.deliver(.queue(.records(watch.comment.flatMap { records[$0] } ?? [])))
      case .failure(let failure): watch.deliver(.queue(.failure(failure.reason)))
      }
    }
  }
}
