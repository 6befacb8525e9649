// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The state of an ``OperationScope``: its unfinished operations, and whether it was cancelled or has ended.
struct OperationScopeState {
  enum Joining {
    /// The operation is in the scope, with this serial number. If the scope was cancelled, the caller cancels the
    /// operation.
    case joined(number: Int, isCancelled: Bool)
    /// The scope has ended, and the operation is not in the scope.
    case ended
  }

  enum Ending {
    /// The scope waits for this operation.
    case waits(number: Int, Operation)
    /// The scope has ended. The value is whether the cancellation of the task has cancelled operations.
    case ended(isInterrupted: Bool)
  }

  private var operations: [Int: Operation] = [:]
  /// The serial number of the first unfinished operation, if there is one. No smaller number is in `operations`.
  private var first = 0
  private var next = 0
  private(set) var isCancelled = false
  private var isTaskCancelled = false
  /// Whether the cancellation of the task has cancelled operations.
  private var isInterrupted = false
  private var hasEnded = false

  /// Adds an operation to the scope.
  mutating func join(_ operation: Operation) -> Joining {
    if hasEnded { return .ended }
    if operations.isEmpty { first = next }
    operations[next] = operation
    next += 1
    if isTaskCancelled { isInterrupted = true }
    return .joined(number: next - 1, isCancelled: isCancelled)
  }

  /// Removes an operation that has finished or could not be added. The caller releases it after the lock.
  mutating func leave(_ number: Int) -> Operation? { operations.removeValue(forKey: number) }

  /// Cancels the scope.
  ///
  /// - Parameter byTask: Whether the reason is the cancellation of the task.
  /// - Returns: The operations that the caller cancels, in the order of addition.
  mutating func cancel(byTask: Bool) -> [Operation] {
    if hasEnded { return [] }
    if byTask {
      isTaskCancelled = true
      if !operations.isEmpty { isInterrupted = true }
    }
    if isCancelled { return [] }
    isCancelled = true
    return operations.sorted { $0.key < $1.key }.map(\.value)
  }

  /// Ends the scope if it has no unfinished operation.
  mutating func end() -> Ending {
    while !operations.isEmpty {
      if let operation = operations[first] { return .waits(number: first, operation) }
      first += 1
    }
    hasEnded = true
    return .ended(isInterrupted: isInterrupted)
  }
}
