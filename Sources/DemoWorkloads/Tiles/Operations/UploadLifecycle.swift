// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The states of an upload, as a value: which event leads where, and what the operation must do.
///
/// Each change that observers are told of happens between two events, so that the operation can
/// say "will change" before it and "did change" behind it without holding a lock.
struct UploadLifecycle: Equatable, Sendable {
  enum Phase: Equatable, Sendable {
    case pending
    /// `start()` was called; observers are told that `isExecuting` will change.
    case claimed
    /// `isExecuting` has changed; observers are told that it did.
    case entered
    /// The transfer is under way.
    case transferring
    /// Nothing is left to do; observers are told that `isFinished` will change.
    case leaving(hasExecuted: Bool)
    case finished
  }

  /// What the operation must do about an event, once it has let go of the lock.
  enum Action: Equatable, Sendable {
    case nothing
    /// Tell of `isExecuting`, and report `enter()` and `entered()` as it goes.
    case enter
    /// Begin the transfer, and report `transferEnded()` when it has ended.
    case transfer
    /// Tell of `isFinished`, and of `isExecuting` if it has executed, and report `leave()`.
    case leave(hasExecuted: Bool)
  }

  private(set) var phase: Phase = .pending
  /// Whether the transfer ended before anybody cancelled it.
  private(set) var isUploaded = false
  private var isCancelled = false

  var isExecuting: Bool {
    switch phase {
    case .entered, .transferring: true
    case .leaving(let hasExecuted): hasExecuted
    case .pending, .claimed, .finished: false
    }
  }

  var isFinished: Bool { phase == .finished }

  /// The queue starts the operation. Only the first time counts.
  mutating func start() -> Action {
    guard phase == .pending else { return .nothing }
    guard !isCancelled else { return beginLeaving(hasExecuted: false) }
    phase = .claimed
    return .enter
  }

  /// Observers have been told that `isExecuting` will change.
  mutating func enter() {
    precondition(phase == .claimed, "entered while \(phase)")
    phase = .entered
  }

  /// Observers have been told that `isExecuting` did change.
  mutating func entered() -> Action {
    precondition(phase == .entered, "began to transfer while \(phase)")
    // A cancellation that came while observers were told has been waiting here.
    guard !isCancelled else { return beginLeaving(hasExecuted: true) }
    phase = .transferring
    return .transfer
  }

  /// Somebody cancels the operation: at any time, and any number of times.
  mutating func cancel() -> Action {
    isCancelled = true
    // Before it has started the queue's own call of start() ends it; an operation that finished
    // without having been started would confuse the queue.
    return phase == .transferring ? beginLeaving(hasExecuted: true) : .nothing
  }

  /// The transfer has ended; too late if a cancellation was faster.
  mutating func transferEnded() -> Action {
    guard phase == .transferring else { return .nothing }
    isUploaded = true
    return beginLeaving(hasExecuted: true)
  }

  /// Observers have been told that `isFinished` will change.
  mutating func leave() {
    guard case .leaving = phase else { preconditionFailure("left while \(phase)") }
    phase = .finished
  }

  private mutating func beginLeaving(hasExecuted: Bool) -> Action {
    phase = .leaving(hasExecuted: hasExecuted)
    return .leave(hasExecuted: hasExecuted)
  }
}
