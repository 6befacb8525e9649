// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import Tracing

/// The service context of the code that has created or added an operation.
final class CapturedServiceContext: OperationContext {
  private let context: ServiceContext

  private init(_ context: ServiceContext) { self.context = context }

  func bind(_ body: () -> Void) { ServiceContext.withValue(context, operation: body) }

  func begin(_ operation: Operation) -> any OperationContext {
    TracedServiceContext(of: operation, in: context) ?? self
  }

  func end(_ operation: Operation) {}

  // MARK: Hook

  private static let hook = OperationContextHook {
    guard let context = ServiceContext.current, !context.isEmpty else { return nil }
    return CapturedServiceContext(context)
  }

  /// The number of reasons for which contexts are captured.
  private static let useCount = Locked(0)

  /// Makes operations capture service contexts until ``remove()`` is called as often as this function.
  static func install() {
    useCount.withLock { count in
      count += 1
      if count == 1 { hook.install() }
    }
  }

  /// Ends one use of the hook. Operations that have captured a context keep it.
  static func remove() {
    useCount.withLock { count in
      precondition(count > 0, "The hook was removed more often than it was installed")
      count -= 1
      if count == 0 { OperationContextHook.remove() }
    }
  }
}

/// The service context of the work of an operation that has spans. The spans are open while the work runs.
private final class TracedServiceContext: OperationContext {
  private let context: ServiceContext
  private let spans: [OpenSpans]

  /// Starts a span for each running telemetry that has a tracer.
  ///
  /// - Returns: `nil` if no span was started.
  init?(of operation: Operation, in parent: ServiceContext) {
    var context = parent
    var spans: [OpenSpans] = []
    for telemetry in OpenSpans.all {
      guard let next = telemetry.begin(operation, in: context) else { continue }
      context = next
      spans.append(telemetry)
    }
    if spans.isEmpty { return nil }
    self.context = context
    self.spans = spans
  }

  func bind(_ body: () -> Void) { ServiceContext.withValue(context, operation: body) }

  func begin(_ operation: Operation) -> any OperationContext { self }

  func end(_ operation: Operation) { for telemetry in spans { telemetry.end(operation.id) } }
}
