// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What an asynchronous operation holds: its closure until that begins, its task while that runs, and
/// then what came of it. Guarded by the operation's lock.
struct AsyncWork<Output: Sendable> {
  typealias Body = @Sendable () async throws -> Output

  private var body: Body?
  private var task: Task<Void, Never>?
  private(set) var outcome: Result<Output, any Error>?

  init(body: Body?) { self.body = body }

  /// Whether there is a closure that nobody has taken.
  var hasBody: Bool { body != nil }

  /// The closure is about to run, or never will.
  mutating func takeBody() -> Body? { body.take() }

  /// The task was made. It may be over by now: then it is not kept.
  mutating func taskWasMade(_ task: Task<Void, Never>) {
    if outcome == nil { self.task = task }
  }

  /// The task that is to be cancelled, if it is known and not over.
  var taskToCancel: Task<Void, Never>? { task }

  /// The work is over. Lets go of the task, which holds the operation.
  mutating func end(_ outcome: Result<Output, any Error>) {
    self.outcome = outcome
    task = nil
  }
}
