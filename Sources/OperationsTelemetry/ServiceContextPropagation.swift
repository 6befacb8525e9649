// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// Makes operations run in the service context of the code that adds them, without a telemetry.
///
/// A running ``OperationTelemetry`` does the same, and also creates spans. Use this type if the program reports
/// neither metrics nor spans, for example so that log lines of operations have the metadata of the request.
public enum ServiceContextPropagation {
  /// The number of calls of ``start()`` without a matching call of ``stop()``. Telemetries do not count.
  private static let useCount = Locked(0)

  /// Makes operations capture service contexts until ``stop()`` is called as often as this function.
  ///
  /// An operation captures `ServiceContext.current` of the code that adds it; if there is none, that of the code
  /// that has created it. The captured context is the current one in the operation's work. Operations that were
  /// added before do not change. Can be called on any thread.
  public static func start() {
    useCount.withLock { $0 += 1 }
    CapturedServiceContext.install()
  }

  /// Ends one use. When no use and no running telemetry is left, operations no longer capture contexts. Operations
  /// that have captured a context keep it. Can be called on any thread.
  ///
  /// - Precondition: ``start()`` was called, and no matching call of this function was made yet.
  public static func stop() {
    useCount.withLock { count in
      precondition(count > 0, "ServiceContextPropagation.stop() was called without start()")
      count -= 1
    }
    CapturedServiceContext.remove()
  }
}
