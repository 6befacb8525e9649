// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands
import OperationsCore

/// The records of a run that its journal has not got, in their order.
///
/// A record is added under the lock of the run, together with the change that it describes. Therefore the end of a job
/// is recorded before the start of a job that needs it, and the end of the run after the ends of all jobs.
struct JournalLine {
  /// A record, and the task that waits until it is on the disk.
  struct Entry {
    let record: JournalRecord
    var continuation: CheckedContinuation<RunFailure?, Never>?
  }

  var entries: [Entry] = []
  /// Whether a thread moves entries to the journal. It also moves the entries that other threads add in the meantime.
  var isMoving = false
}

extension JobRun {
  /// Returns a record with the time of this run.
  func stamped(_ record: JournalRecord) -> JournalRecord {
    var record = record
    record.time = options.time.wall()
    return record
  }

  /// Moves records to the journal. If another thread does this, it moves all records.
  ///
  /// The run has finished when its journal has all records, because the owner of the run then closes the journal. So
  /// the thread that moves the record of the end calls the handlers.
  func handOver() {
    while true {
      let entries = state.withLock { state -> [JournalLine.Entry] in
        guard !state.records.isMoving, !state.records.entries.isEmpty else { return [] }
        state.records.isMoving = true
        defer { state.records.entries = [] }
        return state.records.entries
      }
      if entries.isEmpty { return }
      for entry in entries { journal.append(entry.record, resuming: entry.continuation) }
      let hasEnd = entries.contains { $0.record.event == .finish }
      let handlers = state.withLock { state -> [@Sendable () -> Void] in
        state.records.isMoving = false
        // A retry may have begun since the end was noted.
        guard hasEnd, state.isEndNoted, !state.isFinished else { return [] }
        state.isFinished = true
        return state.handlers
      }
      for handler in handlers { handler() }
    }
  }

  /// Records that an attempt starts, and waits until the record is on the disk.
  ///
  /// - Parameters:
  ///   - index: The index of the job.
  ///   - attempt: The number of the attempt.
  ///   - files: The name of the attempt's files.
  ///   - submission: The submission to a cluster; `nil` for a command of this machine. If the cluster has lost an
  ///     earlier submission of the attempt, the journal gets another record of the same attempt.
  /// - Throws: `RunFailure` if the journal cannot be written.
  func recordStart(
    of index: Int, attempt: Int, files: String, _ submission: SlurmSubmission? = nil
  ) async throws {
    let definition = definition(of: index)
    let record = stamped(
      .start(
        plan.jobs[index].id, attempt: attempt, files: files, definition: definition,
        submission: submission))
    let now = options.time.instant()
    let isFirst = state.withLock { ($0.jobs[index]?.attemptCount ?? 0) < attempt }
    let failure = await withCheckedContinuation { continuation in
      state.withLock { state in
        state.jobs[index]?.attemptCount = attempt
        state.jobs[index]?.definition = definition
        if state.jobs[index]?.started == nil { state.jobs[index]?.started = now }
        state.records.entries.append(
          JournalLine.Entry(record: record, continuation: continuation))
      }
      handOver()
    }
    if let failure {
      // The handler for failures may be called later.
      journalHasFailed(failure)
      throw failure
    }
    state.withLock { state in
      if options.keepsEvents, isFirst { state.events.append(.started(index, attempt: attempt)) }
    }
    wake()
  }

  /// Returns the definition of a job for an attempt that starts now. For a job with an attempt of an earlier runner,
  /// the known definition is the one of that attempt.
  func definition(of index: Int) -> String {
    switch resumption.decisions[index] {
    case .adopt, .adoptSubmission, .take: JobDefinition.text(of: plan.jobs[index], in: plan)
    case .run, .keep, .wait: resumption.definitions[index]
    }
  }

  /// Lets no further job start, because the journal cannot be written. Commands that run end by themselves. A second
  /// call does nothing.
  func journalHasFailed(_ failure: RunFailure) {
    let operations = state.withLock { state -> [JobOperation] in
      guard state.journalFailure == nil else { return [] }
      state.journalFailure = failure
      if options.keepsEvents {
        state.events.append(.journalFailed(reason: failure.description))
      }
      // Before the start, there are no jobs.
      return state.jobs.isEmpty
        ? []
        : cancellationOrder.compactMap { index in
          guard let job = state.jobs[index], job.currentAttempt == nil, job.adoption == nil else {
            return nil
          }
          return job.operation
        }
    }
    for operation in operations { operation.cancel(with: failure) }
    // A cancelled job ends when its queue takes it.
    if !operations.isEmpty { resumeQueues() }
    wake()
  }
}
