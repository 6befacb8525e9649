// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import MonitorClient
import MonitorProtocol
import Synchronization

/// A viewer that writes all messages to a file.
package final class Recorder: Sendable {
  /// The shortest time between updates.
  static let interval = Duration.milliseconds(250)

  /// The result of a recording.
  struct Outcome: Sendable {
    /// The length of the recording.
    var length = Duration.zero
    /// The number of updates.
    var updateCount = 0
    /// The number of bytes.
    var size = 0
    /// The reason, as a sentence, why it stopped early; `nil` if it did not.
    var failure: FileError?
    /// The reason, as a sentence, why the recorded process ended; `nil` if it did not.
    var endedReason: String?

    /// Whether the recording has ended.
    var isOver: Bool { failure != nil || endedReason != nil }
  }

  /// The state that is used only on the queue.
  private struct State: ~Copyable {
    var writer = RecordingWriter()
    /// `nil` before the beginning.
    var file: OutputFile?
    var session: (any MonitorSource)?
    var outcome = Outcome()
    var isFinished = false
    /// How far the process's clock is ahead of this process's clock.
    var clockLead = Duration.zero
    /// The time that the last update must reach; `nil` while the recording continues.
    var lastMoment: MonitorTime?

    mutating func record(_ message: MonitorMessage) {
      guard !outcome.isOver else { return }
      append(writer.add(message))
      if case .hello(let hello) = message { clockLead = hello.clockLead(at: .now) }
      if case .update(let update) = message, let moment = lastMoment, update.time >= moment {
        lastMoment = nil
      }
      if outcome.failure == nil {
        (outcome.length, outcome.updateCount) = (writer.length, writer.updateCount)
      }
      if case .ended(let reason) = message { outcome.endedReason = reason }
    }

    /// Completes the file. If that fails, the recording can still be replayed.
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

  /// Returns the interest of a recording: everything.
  static func interest(warningKinds: Set<MonitorWarning.Kind>) -> Interest {
    var interest = Interest.everything
    interest.warningKinds = warningKinds
    return interest
  }

  /// How long the recorder waits for the last update.
  private static let patience = DispatchTimeInterval.milliseconds(500)

  private let interest: Interest
  /// Signalled each time that messages have arrived.
  private let arrivals = DispatchSemaphore(value: 0)
  private let queue = DispatchQueue(label: "opq-record")
  private let state: Mutex<State>
  /// The result so far, which other threads can read during a write.
  private let shown = Mutex(Outcome())
  private let wake: @Sendable () -> Void

  /// Creates a recorder.
  ///
  /// - Parameters:
  ///   - interest: The data to record.
  ///   - wake: Called on any thread when the recording ends on its own.
  init(_ interest: Interest, wake: @escaping @Sendable () -> Void) {
    self.interest = interest
    state = Mutex(State())
    self.wake = wake
  }

  /// Records the messages of a source, from its greeting on.
  ///
  /// - Parameters:
  ///   - path: The file to write, which is created when the source is open.
  ///   - replaces: Whether an existing file is overwritten.
  ///   - open: Opens the source. Its argument must be called when there are messages.
  /// - Throws: The errors of `open`, or ``FileError``.
  func begin(
    into path: String, replaces: Bool,
    _ open: (@escaping @Sendable () -> Void) throws -> any MonitorSource
  ) throws {
    let session = try open { [weak self] in self?.takeSoon() }
    try state.withLock { state in
      state.file = try OutputFile(creating: path, replaces: replaces)
      state.session = session
    }
    takeSoon()
  }

  /// The result so far.
  var outcome: Outcome { shown.withLock { $0 } }

  /// Records everything up to now, and completes the file. Further calls have no effect.
  ///
  /// The method waits until the process has sent an update for this moment, or for half a second if
  /// the process is stopped. A process with too many changes for one update has sent a part of
  /// them.
  @discardableResult
  func finish() -> Outcome {
    queue.sync {
      take()
      awaitLastUpdate()
      // Outside the lock, because a session has its own lock.
      state.withLock { $0.session }?.invalidate()
      let outcome = state.withLock { state in
        state.complete()
        return state.outcome
      }
      shown.withLock { $0 = outcome }
    }
    return outcome
  }

  /// Requests the same interest again, so that an update comes even without changes. This is done
  /// twice, because the first update may have been made before.
  private func awaitLastUpdate() {
    let end = DispatchTime.now() + Self.patience
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
    // Discard the signals for messages that were received earlier.
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

  /// Writes the received messages. Called only on the queue.
  private func take() {
    guard let session = state.withLock({ $0.session }) else { return }
    let messages = session.takeMessages()
    let (wasOver, outcome) = state.withLock { state in
      let wasOver = state.outcome.isOver
      for message in messages { state.record(message) }
      return (wasOver, state.outcome)
    }
    shown.withLock { $0 = outcome }
    if outcome.isOver, !wasOver { wake() }
  }
}
