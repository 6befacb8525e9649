// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import Synchronization

/// A viewer that writes all messages of a source to a file.
package final class Recorder: Sendable {
  /// The shortest time between two recorded updates.
  package static let interval = Duration.milliseconds(250)

  /// The result of a recording, so far or at the end.
  package struct Outcome: Sendable {
    /// The recorded time.
    package var length = Duration.zero
    /// The number of recorded updates.
    package var updateCount = 0
    /// The size of the file in bytes.
    package var size = 0
    /// The error that occurred when the file was written; `nil` if there is none.
    package var failure: FileError?
    /// The error with which the source has lost the process. The process may still run. The value is `nil` if the
    /// source has not lost the process.
    package var loss: (any Error)?
    /// The reason, as a sentence, why the recorded process ended; `nil` if the process has not
    /// ended.
    package var endedReason: String?

    /// Whether the recording has stopped early, because of a failure or a loss.
    package var isIncomplete: Bool { failure != nil || loss != nil }
    /// Whether the recording has ended.
    package var isOver: Bool { isIncomplete || endedReason != nil }
  }

  /// The state of the recorder. Only the recorder's queue uses it.
  private struct State: ~Copyable {
    /// The name that the recording gives the process; `nil` for the name in the source's greeting.
    let processName: String?
    var writer = RecordingWriter()
    /// The file; `nil` before the recording begins.
    var file: OutputFile?
    /// The source that is recorded; `nil` before the recording begins.
    var session: (any MonitorSource)?
    /// The source that was opened; `nil` after the recording has begun.
    var opened: (any MonitorSource)?
    var outcome = Outcome()
    var isFinished = false
    /// The difference between the recorded process's clock and this process's clock.
    var clockLead = Duration.zero
    /// While the recorder waits for the last update, the earliest time that this update may have;
    /// otherwise `nil`.
    var lastMoment: MonitorTime?

    /// Records a message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - loss: The source's loss. If there is one, the source's last message is not a farewell of the process.
    mutating func record(_ message: MonitorMessage, loss: (any Error)?) {
      guard !outcome.isOver else { return }
      if case .ended = message, let loss {
        outcome.loss = loss
        return
      }
      var message = message
      if case .hello(var hello) = message {
        hello.processName = processName ?? hello.processName
        message = .hello(hello)
        clockLead = hello.clockLead(at: .now)
      }
      append(writer.add(message))
      if case .update(let update) = message, let moment = lastMoment, update.time >= moment {
        lastMoment = nil
      }
      if outcome.failure == nil {
        (outcome.length, outcome.updateCount) = (writer.length, writer.updateCount)
      }
      if case .ended(let reason) = message { outcome.endedReason = reason }
    }

    /// Completes the file. If this fails, the recording can still be replayed.
    mutating func complete() {
      guard !isFinished else { return }
      isFinished = true
      session = nil
      guard outcome.failure == nil else { return }
      append(writer.finish())
      do throws(FileError) {
        if outcome.failure == nil { try file?.finish() }
      } catch {
        outcome.failure = error
      }
    }

    private mutating func append(_ bytes: [UInt8]) {
      do throws(FileError) {
        try file?.append(bytes)
      } catch {
        outcome.failure = error
      }
      outcome.size = file?.size ?? 0
    }
  }

  /// Returns the interest of a recording: it requests all data.
  package static func interest(
    warningKinds: Set<MonitorWarning.Kind> = MonitorWarning.Kind.usual
  ) -> Interest {
    var interest = Interest.everything
    interest.warningKinds = warningKinds
    interest.logs = .all
    return interest
  }

  /// The maximum time for which the recorder waits for the last update.
  private static let patience = DispatchTimeInterval.milliseconds(500)

  private let interest: Interest
  /// A semaphore that is signalled each time messages have arrived.
  private let arrivals = DispatchSemaphore(value: 0)
  private let queue = DispatchQueue(label: "opq-record")
  private let state: Mutex<State>
  /// A copy of the result so far. Other threads can read it while the recorder writes to the file.
  private let shown = Mutex(Outcome())
  private let wake: @Sendable () -> Void

  /// Creates a recorder.
  ///
  /// - Parameters:
  ///   - interest: The data to record.
  ///   - processName: The name that the recording gives the process; `nil` for the name in the source's greeting.
  ///   - wake: A function that is called on any thread when the recording ends by itself.
  package init(
    _ interest: Interest, processName: String? = nil, wake: @escaping @Sendable () -> Void
  ) {
    self.interest = interest
    state = Mutex(State(processName: processName))
    self.wake = wake
  }

  /// Opens a source. Its messages are kept until the recording begins.
  ///
  /// - Parameter open: A function that opens the source. The source must call the argument of this
  ///   function each time messages have arrived.
  /// - Throws: The errors that `open` throws.
  package func open(_ open: (@escaping @Sendable () -> Void) throws -> any MonitorSource) rethrows {
    let session = try open { [weak self] in self?.takeSoon() }
    state.withLock { $0.opened = session }
  }

  /// Creates the file, and records the messages of the opened source, beginning with the source's
  /// greeting.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - replaces: Whether an existing file is overwritten.
  /// - Throws: ``FileError`` if the file cannot be created.
  package func begin(into path: String, replaces: Bool) throws(FileError) {
    try state.withLock { state throws(FileError) in
      state.file = try OutputFile(creating: path, replaces: replaces)
      (state.session, state.opened) = (state.opened, nil)
    }
    takeSoon()
  }

  /// The result of the recording so far.
  package var outcome: Outcome { shown.withLock { $0 } }

  /// Records all changes up to now, and completes the file. A second call has no effect.
  ///
  /// The method waits until the process has sent an update for this moment. If the process is
  /// stopped, it waits for half a second. If another process has too many changes for one update,
  /// only a part of them is recorded.
  ///
  /// - Parameter awaitsUpdate: Whether the method waits for the update. A thread that makes the
  ///   updates must not wait.
  /// - Returns: The result of the recording.
  @discardableResult
  package func finish(awaitsUpdate: Bool = true) -> Outcome {
    queue.sync {
      take()
      if awaitsUpdate { awaitLastUpdate() }
      // The session is invalidated outside the recorder's lock, because the session has its own
      // lock.
      state.withLock { $0.session }?.invalidate()
      let outcome = state.withLock { state in
        state.complete()
        return state.outcome
      }
      shown.withLock { $0 = outcome }
    }
    return outcome
  }

  /// Waits for a last update. If the source is another process, the recorder requests the same data
  /// again, so that the process sends an update even if there are no changes. The recorder sends
  /// the request twice, because the process may have created the update that follows the first
  /// request before it received that request.
  private func awaitLastUpdate() {
    let end = DispatchTime.now() + Self.patience
    let session = state.withLock { $0.outcome.isOver ? nil : $0.session }
    if let local = session as? any LocalMonitorSource {
      local.requestLastUpdate()
      take()
      while !local.hasGivenLastUpdate, arrivals.wait(timeout: end) == .success { take() }
      return
    }
    awaitUpdate(until: end)
    awaitUpdate(until: end)
  }

  private func awaitUpdate(until end: DispatchTime) {
    let session = state.withLock { state -> (any MonitorSource)? in
      guard !state.outcome.isOver, let session = state.session else { return nil }
      state.lastMoment = .now + state.clockLead
      return session
    }
    guard let session else { return }
    // The semaphore `arrivals` may still have signals for messages that arrived earlier. The loop
    // removes these signals.
    while arrivals.wait(timeout: .now()) == .success {}
    session.watch(interest)
    take()
    while state.withLock({ !$0.outcome.isOver && $0.lastMoment != nil }),
      arrivals.wait(timeout: end) == .success
    {
      take()
    }
  }

  private func takeSoon() {
    arrivals.signal()
    queue.async { self.take() }
  }

  /// Writes the messages that have arrived to the file. It is called only on the recorder's queue.
  private func take() {
    guard let session = state.withLock({ $0.session }) else { return }
    let messages = session.takeMessages()
    let loss = session.loss
    let (wasOver, outcome) = state.withLock { state in
      let wasOver = state.outcome.isOver
      for message in messages { state.record(message, loss: loss) }
      return (wasOver, state.outcome)
    }
    shown.withLock { $0 = outcome }
    if outcome.isOver, !wasOver { wake() }
  }
}
