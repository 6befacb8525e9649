// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The scope of a call that catches the mistakes of its thread. The scope is stored on the stack of
/// that thread.
///
/// A scope belongs to a thread and not to a task. If it belonged to a task, a task that the body
/// starts could find the scope after the end of the scope.
struct MisuseScope {
  static let refusalsToStart: [OperationMisuse.Kind] = [
    .receiverAlreadyExecuting, .receiverNotReady, .simultaneousStart, .startOfEnqueuedOperation,
  ]

  private var mistakes: [OperationMisuse] = []
  /// The kinds of mistakes that the scope catches from the body itself. If this value is `nil`, the
  /// scope catches all mistakes, including those of operations that run inside the body.
  private let refusals: [OperationMisuse.Kind]?
  /// The operation that the thread executed when the scope began.
  private let caller: ObjectIdentifier?
  private let outer: UnsafeMutablePointer<MisuseScope>?

  private init(refusals: [OperationMisuse.Kind]?) {
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

  /// Runs `body`, and catches its mistakes.
  ///
  /// - Returns: The mistakes that this thread made in `body`.
  static func run<Failure: Error>(
    _ body: () throws(Failure) -> Void
  ) throws(Failure) -> [OperationMisuse] {
    try run(wanting: nil, body)
  }

  /// Makes a call that the library may refuse, and throws the refusal.
  ///
  /// Mistakes of operations and observers that the call runs on this thread are not thrown.
  static func run(throwing refusals: [OperationMisuse.Kind], _ call: () -> Void)
    throws(OperationMisuse)
  {
    if let refusal = run(wanting: refusals, call).first { throw refusal }
  }

  private static func run<Failure: Error>(
    wanting refusals: [OperationMisuse.Kind]?, _ body: () throws(Failure) -> Void
  ) throws(Failure) -> [OperationMisuse] {
    var scope = MisuseScope(refusals: refusals)
    try withUnsafeMutablePointer(to: &scope) { pointer throws(Failure) in
      csystem_set_current_misuse(pointer)
      defer { csystem_set_current_misuse(pointer.pointee.outer) }
      try body()
    }
    return scope.mistakes
  }

  /// Adds the mistake to the innermost scope that catches it. Returns `false` if no scope catches
  /// it.
  static func take(_ misuse: OperationMisuse) -> Bool {
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

  private func wants(_ misuse: OperationMisuse, of operation: ObjectIdentifier?) -> Bool {
    guard let refusals else { return true }
    return operation == caller && refusals.contains(misuse.kind)
  }
}
