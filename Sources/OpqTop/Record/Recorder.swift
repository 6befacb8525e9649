// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import MonitorClient
import MonitorProtocol
import Synchronization

/// A viewer that writes everything it is told into a file.
package final class Recorder: Sendable {
  /// The time between updates at most.
  static let interval = Duration.milliseconds(250)

  /// What came of it.
  struct Outcome: Sendable {
    /// How long the recording is.
    var length = Duration.zero
    /// How many updates it has.
    var updateCount = 0
    /// How many bytes it has.
    var size = 0
    /// Why it stopped before it was asked to, as a sentence; `nil` where it did not.
    var failure: FileError?
    /// Why what was recorded is over, as a sentence; `nil` where it is not.
    var endedReason: String?

    /// Whether nothing more is recorded.
    var isOver: Bool { failure != nil || endedReason != nil }
  }

  /// What only the queue uses.
  private struct State: ~Copyable {
    var writer = RecordingWriter()
    /// `nil` before it begins.
    var file: OutputFile?
    var session: (any MonitorSource)?
    var outcome = Outcome()
    var isFinished = false
    /// How far the process's clock is ahead of this one's.
    var clockLead = Duration.zero
    /// Of when the last update has to be; `nil` while more are taken.
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

    /// Ends the file. Where that fails it can be played all the same.
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

  /// What it wants to be told: everything.
  static func interest(warningKinds: Set<MonitorWarning.Kind>) -> Interest {
    var interest = Interest.everything
    interest.warningKinds = warningKinds
    return interest
  }

  /// For how long the last update is waited for.
  private static let patience = DispatchTimeInterval.milliseconds(500)

  private let interest: Interest
  /// Has a signal for each time that there was something to take.
  private let arrivals = DispatchSemaphore(value: 0)
  private let queue = DispatchQueue(label: "opq-record")
  private let state: Mutex<State>
  /// What the others may look at while something is written.
  private let shown = Mutex(Outcome())
  private let wake: @Sendable () -> Void

  /// Makes ready to record.
  ///
  /// - Parameters:
  ///   - interest: What is recorded.
  ///   - wake: Called on any thread when it is over by itself.
  init(_ interest: Interest, wake: @escaping @Sendable () -> Void) {
    self.interest = interest
    state = Mutex(State())
    self.wake = wake
  }

  /// Records what a source tells, from its greeting on.
  ///
  /// - Parameters:
  ///   - path: The file to write, which is made when the source is open.
  ///   - replaces: Whether a file that is there already is written over.
  ///   - open: Opens the source; is given what is to be called when there are messages.
  /// - Throws: What `open` throws, or ``FileError``.
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

  /// What came of it so far.
  var outcome: Outcome { shown.withLock { $0 } }

  /// Records what there is up to now, and completes the file. Twice is harmless.
  ///
  /// It waits until the process has told of this moment; for half a second, if that is stopped. One with so
  /// much to tell that it cannot be told at once has told a part.
  @discardableResult
  func finish() -> Outcome {
    queue.sync {
      take()
      awaitLastUpdate()
      // Not under the lock: a session has one of its own.
      state.withLock { $0.session }?.invalidate()
      let outcome = state.withLock { state in
        state.complete()
        return state.outcome
      }
      shown.withLock { $0 = outcome }
    }
    return outcome
  }

  /// Asks anew for what it is told anyway, so that an update comes even where nothing happens. Twice: what
  /// is told first may have been read before.
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
    // Those of what was taken long ago.
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

  /// Writes what has come. On the queue alone.
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
