// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import FixtureSupport
import Operations
import OperationsTelemetry
import Tracing

/// Measures the cost of capturing the context of the code that adds an operation. `Benchmarks/context` calls it.
///
///     fixture-measure context CASE COUNT          runs COUNT empty operations once, to count instructions
///     fixture-measure context CASE COUNT memory   prints the bytes of an operation that waits
enum ContextOverhead {
  /// What is captured, and the kind of the operations.
  private enum Case: String {
    /// Blocks. Contexts are not captured.
    case off
    /// Blocks. Contexts are captured, and the adding code has none.
    case empty
    /// Blocks. The adding code has a context, which each operation captures.
    case captured
    /// Asynchronous operations without task-local values.
    case async
    /// Asynchronous operations that inherit all task-local values.
    case inherits
  }

  private enum Tenant: ServiceContextKey {
    typealias Value = String
  }

  static func run(_ arguments: [String]) {
    guard arguments.count >= 2, let measured = Case(rawValue: arguments[0]),
      let count = Int(arguments[1])
    else { fatalError("usage: context off|empty|captured|async|inherits COUNT [memory]") }
    if measured == .empty || measured == .captured { ServiceContextPropagation.start() }
    guard measured != .off, measured != .empty else {
      return run(measured, count, onlyMemory: arguments.count > 2)
    }
    var context = ServiceContext.topLevel
    context[Tenant.self] = "tenant"
    ServiceContext.withValue(context) {
      run(measured, count, onlyMemory: arguments.count > 2)
    }
  }

  private static func run(_ measured: Case, _ count: Int, onlyMemory: Bool) {
    let queue = OperationQueue()
    queue.isSuspended = onlyMemory
    let before = ProcessStatus.amount("VmRSS")
    for _ in 0..<count { add(measured, to: queue) }
    if onlyMemory {
      print((ProcessStatus.amount("VmRSS") - before) * 1_024 / count)
      queue.isSuspended = false
    }
    queue.waitUntilAllOperationsAreFinished()
  }

  private static func add(_ measured: Case, to queue: OperationQueue) {
    switch measured {
    case .off, .empty, .captured: queue.addOperation {}
    case .async: queue.addAsyncOperation {}
    case .inherits: queue.addOperation(AsyncOperation(inheritsTaskLocalValues: true) {})
    }
  }
}
