// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The states of an upload. The type is a value: each event changes the state and returns the operation's
/// next action.
///
/// Each change that observers see happens between two events. Therefore the operation can send "will change"
/// before the change and "did change" after it without holding a lock.
struct UploadLifecycle: Equatable, Sendable {
  enum Phase: Equatable, Sendable {
    case pending
    /// The queue has called `start()`. The operation is sending "will change" for `isExecuting`.
    case claimed
    /// The value of `isExecuting` has changed. The operation is sending "did change" for it.
    case entered
    /// The operation is waiting for the end of the transfer.
    case transferring
    /// The operation has no work left. It is sending "will change" for `isFinished`.
    case leaving(hasExecuted: Bool)
    case finished
  }

  /// The next action of the operation after an event. The operation performs the action after it has released
  /// its lock.
  enum Action: Equatable, Sendable {
    case nothing
    /// The operation must notify observers of the change of `isExecuting`, and report the events `enter()`
    /// and `entered()` during the notification.
    case enter
    /// The operation must begin the transfer, and report the event `transferEnded()` when the transfer has
    /// ended.
    case transfer
    /// The operation must notify observers of the change of `isFinished`, and report the event `leave()`
    /// during the notification. If the operation has executed, it must also notify observers of the change of
    /// `isExecuting`.
    case leave(hasExecuted: Bool)
  }

  private(set) var phase: Phase = .pending
  private var isCancelled = false

  var isExecuting: Bool {
    switch phase {
    case .entered, .transferring: true
    case .leaving(let hasExecuted): hasExecuted
    case .pending, .claimed, .finished: false
    }
  }

  var isFinished: Bool { phase == .finished }

  /// Starts the operation, because its queue has called `start()`. Only the first call has an effect.
  mutating func start() -> Action {
    guard phase == .pending else { return .nothing }
    guard !isCancelled else { return beginLeaving(hasExecuted: false) }
    phase = .claimed
    return .enter
  }

  /// Notes that the operation has sent "will change" for `isExecuting`.
  mutating func enter() {
    precondition(phase == .claimed, "entered while \(phase)")
    phase = .entered
  }

  /// Notes that the operation has sent "did change" for `isExecuting`.
  mutating func entered() -> Action {
    precondition(phase == .entered, "a transfer can begin only in the phase entered, not \(phase)")
    // If the operation was cancelled while it notified observers, the cancellation takes effect now.
    guard !isCancelled else { return beginLeaving(hasExecuted: true) }
    phase = .transferring
    return .transfer
  }

  /// Cancels the operation. The method may be called at any time and several times.
  mutating func cancel() -> Action {
    isCancelled = true
    // Before the start, a cancelled operation does not finish: it ends when its queue calls start(). An
    // operation that finishes without being started would confuse the queue.
    return phase == .transferring ? beginLeaving(hasExecuted: true) : .nothing
  }

  /// Notes that the transfer has ended. If the operation was cancelled before, this has no effect.
  mutating func transferEnded() -> Action {
    phase == .transferring ? beginLeaving(hasExecuted: true) : .nothing
  }

  /// Notes that the operation has sent "will change" for `isFinished`.
  mutating func leave() {
    guard case .leaving = phase else { preconditionFailure("left while \(phase)") }
    phase = .finished
  }

  private mutating func beginLeaving(hasExecuted: Bool) -> Action {
    phase = .leaving(hasExecuted: hasExecuted)
    return .leave(hasExecuted: hasExecuted)
  }
}
