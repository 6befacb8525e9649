// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What an asynchronous operation holds: its closure until that begins, its task while that runs, and
/// then what came of it. Guarded by the operation's lock.
struct AsyncWork<Output: Sendable> {
  typealias Body = @Sendable () async throws -> Output

  private var body: Body?
  /// Whether the closure was called, or is about to be.
  private var hasBegun = false
  /// The task, from when it was made until the work is over.
  private(set) var task: Task<Void, Never>?
  /// Resumes the task, which has begun before the thread that makes it could say which one it is.
  private var beginning: UnsafeContinuation<Void, Never>?
  private(set) var outcome: Result<Output, any Error>?

  init(body: Body?) { self.body = body }

  /// Whether there is a closure that was not called.
  var hasBody: Bool { body != nil && !hasBegun }

  /// The closure will not be called any more.
  mutating func takeBody() -> Body? { body.take() }

  /// Returns the closure, once. It stays if the operation's own task calls it, which finishes the operation
  /// and releases the closure then.
  mutating func beginBody() -> Body? {
    if hasBegun { return nil }
    hasBegun = true
    return task == nil ? body.take() : body
  }

  /// The task was made. The work has not begun.
  ///
  /// - Returns: Resumes the task, if it waits for this.
  mutating func taskWasMade(_ task: Task<Void, Never>) -> UnsafeContinuation<Void, Never>? {
    self.task = task
    return beginning.take()
  }

  /// The task is suspended until it is known.
  ///
  /// - Returns: Whether it is known by now, and the caller must resume it.
  mutating func waitsForTask(_ continuation: UnsafeContinuation<Void, Never>) -> Bool {
    if task != nil { return true }
    beginning = continuation
    return false
  }

  /// The work is over. Lets go of the task, which holds the operation.
  mutating func end(_ outcome: Result<Output, any Error>) {
    self.outcome = outcome
    task = nil
  }
}

extension TaskPriority {
  /// The priority of the task that runs an asynchronous operation; `nil` where nobody has stated one.
  ///
  /// A stated quality of service has the task priority that stands for the same; only where there is none
  /// does the place in the queue say how urgent the work is.
  ///
  /// - Parameters:
  ///   - qualityOfService: The operation's, or its queue's where it states none.
  ///   - queuePriority: The operation's.
  init?(_ qualityOfService: QualityOfService, _ queuePriority: Operation.QueuePriority) {
    switch qualityOfService {
    case .userInteractive, .userInitiated: self = .high
    case .utility: self = .low
    case .background: self = .background
    case .default:
      switch queuePriority {
      case .veryHigh, .high: self = .high
      case .normal: return nil
      case .low: self = .low
      case .veryLow: self = .background
      }
    }
  }
}
