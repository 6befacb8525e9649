// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// A call that wants the mistakes of its thread; lives on the stack of that thread.
///
/// It belongs to the thread and not to the task: a task that the body starts must not find, later
/// and elsewhere, that its mistakes go to a scope that has ended.
struct MisuseScope {
  static let refusalsToStart: [Misuse.Kind] = [
    .receiverAlreadyExecuting, .receiverNotReady, .simultaneousStart, .startOfEnqueuedOperation,
  ]

  private var mistakes: [Misuse] = []
  /// The kinds that are wanted, and only where the body itself makes them; `nil` for all mistakes,
  /// those of operations that run inside the body included.
  private let refusals: [Misuse.Kind]?
  /// The operation that the thread ran when the scope began.
  private let caller: ObjectIdentifier?
  private let outer: UnsafeMutablePointer<MisuseScope>?

  private init(refusals: [Misuse.Kind]?) {
    self.refusals = refusals
    caller = Self.currentOperation
    outer = Self.innermost
  }

  private static var innermost: UnsafeMutablePointer<MisuseScope>? {
    csystem_current_misuse()?.assumingMemoryBound(to: MisuseScope.self)
  }

  private static var currentOperation: ObjectIdentifier? {
    CurrentWork.operation.map(ObjectIdentifier.init)
  }

  /// Runs `body`.
  ///
  /// - Returns: The mistakes made meanwhile on this thread.
  static func run<Failure: Error>(
    _ body: () throws(Failure) -> Void
  ) throws(Failure) -> [Misuse] {
    try run(wanting: nil, body)
  }

  /// Runs a call that may be refused, and throws the refusal.
  ///
  /// What operations and observers do that the call runs on this thread is no mistake of the call's.
  static func run(throwing refusals: [Misuse.Kind], _ call: () -> Void) throws(Misuse) {
    if let refusal = run(wanting: refusals, call).first { throw refusal }
  }

  private static func run<Failure: Error>(
    wanting refusals: [Misuse.Kind]?, _ body: () throws(Failure) -> Void
  ) throws(Failure) -> [Misuse] {
    var scope = MisuseScope(refusals: refusals)
    try withUnsafeMutablePointer(to: &scope) { pointer throws(Failure) in
      csystem_set_current_misuse(pointer)
      defer { csystem_set_current_misuse(pointer.pointee.outer) }
      try body()
    }
    return scope.mistakes
  }

  /// Hands the mistake to the innermost scope that wants it. `false` where there is none.
  static func take(_ misuse: Misuse) -> Bool {
    let current = currentOperation
    var next = innermost
    while let scope = next {
      if scope.pointee.wants(misuse, of: current) {
        scope.pointee.mistakes.append(misuse)
        return true
      }
      next = scope.pointee.outer
    }
    return false
  }

  private func wants(_ misuse: Misuse, of operation: ObjectIdentifier?) -> Bool {
    guard let refusals else { return true }
    return operation == caller && refusals.contains(misuse.kind)
  }
}

// MARK: - Calls that throw

extension OperationSupplement where Self: Operation {
  /// As ``Operation/start()``, with a refusal thrown instead of trapping.
  ///
  /// What ``Operation/main()`` and observers do is not part of it: a mistake in there is reported as
  /// ever.
  ///
  /// - Throws: Why it was not started. The operation is as it was.
  public func tryStart() throws(Misuse) {
    try MisuseScope.run(throwing: MisuseScope.refusalsToStart) { start() }
  }
}

extension OperationQueueSupplement where Self: OperationQueue {
  /// As ``OperationQueue/addOperation(_:)-(Operation)``, with a refusal thrown instead of trapping.
  ///
  /// - Throws: Why the operation was not added. It is as it was, and may be added elsewhere.
  public func tryAddOperation(_ operation: Operation) throws(Misuse) {
    try MisuseScope.run(throwing: [.cannotEnqueue]) { addOperation(operation) }
  }

  /// As ``OperationQueue/addOperations(_:waitUntilFinished:)`` without waiting, with a refusal thrown
  /// instead of trapping.
  ///
  /// - Throws: Why one of them was not added. None was; each of the others may be added elsewhere.
  public func tryAddOperations(_ operations: [Operation]) throws(Misuse) {
    try MisuseScope.run(throwing: [.cannotEnqueue]) {
      addOperations(operations, waitUntilFinished: false)
    }
  }
}
