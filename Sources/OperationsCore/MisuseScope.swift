// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CSystem

/// A call that wants the mistakes of its thread; lives on the stack of that thread.
///
/// It belongs to the thread and not to the task: a task that the body starts must not find, later
/// and elsewhere, that its mistakes go to a scope that has ended.
struct MisuseScope {
  private var mistakes: [Misuse] = []
  /// Whether mistakes of operations that run inside the body are left to the scopes around it.
  private let sparesOperations: Bool
  /// The operation that the thread ran when the scope began.
  private let caller: ObjectIdentifier?
  private let outer: UnsafeMutablePointer<MisuseScope>?

  private init(sparesOperations: Bool) {
    self.sparesOperations = sparesOperations
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
    sparesOperations: Bool, _ body: () throws(Failure) -> Void
  ) throws(Failure) -> [Misuse] {
    var scope = MisuseScope(sparesOperations: sparesOperations)
    try withUnsafeMutablePointer(to: &scope) { pointer throws(Failure) in
      csystem_set_current_misuse(pointer)
      defer { csystem_set_current_misuse(pointer.pointee.outer) }
      try body()
    }
    return scope.mistakes
  }

  /// Runs a call of this library that may be refused, and throws the refusal.
  ///
  /// What an operation does that the call runs on this thread is no mistake of the call's.
  static func throwing(_ call: () -> Void) throws(Misuse) {
    if let refusal = run(sparesOperations: true, call).first { throw refusal }
  }

  /// Hands the mistake to the innermost scope that wants it. `false` where there is none.
  static func take(_ misuse: Misuse) -> Bool {
    let current = currentOperation
    var next = innermost
    while let scope = next {
      if !scope.pointee.sparesOperations || scope.pointee.caller == current {
        scope.pointee.mistakes.append(misuse)
        return true
      }
      next = scope.pointee.outer
    }
    return false
  }
}

// MARK: - Calls that throw

extension OperationSupplement where Self: Operation {
  /// As ``Operation/start()``, with a refusal thrown instead of trapping.
  ///
  /// What ``Operation/main()`` does is not part of it: a mistake in there is reported as ever.
  ///
  /// - Throws: Why it was not started. The operation is as it was.
  public func tryStart() throws(Misuse) { try MisuseScope.throwing { start() } }
}

extension OperationQueue {
  /// As ``addOperation(_:)-(Operation)``, with a refusal thrown instead of trapping.
  ///
  /// - Throws: Why the operation was not added. It is as it was, and may be added elsewhere.
  public final func tryAddOperation(_ operation: Operation) throws(Misuse) {
    try MisuseScope.throwing { addOperation(operation) }
  }

  /// As ``addOperations(_:waitUntilFinished:)`` without waiting, with a refusal thrown instead of
  /// trapping.
  ///
  /// - Throws: Why one of them was not added. None was; each of the others may be added elsewhere.
  public final func tryAddOperations(_ operations: [Operation]) throws(Misuse) {
    try MisuseScope.throwing { addOperations(operations, waitUntilFinished: false) }
  }
}
