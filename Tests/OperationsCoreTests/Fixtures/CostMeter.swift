// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import TestSupport
import Testing

/// How much processor time something takes, whatever else runs on the machine meanwhile: that of the
/// calling thread, and that of the thread on which operations run one after the other.
final class CostMeter: Sendable {
  private struct State {
    var thread: pthread_t?
    var last = Duration.zero
    var total = Duration.zero
  }

  private let state = Monitored(State())

  /// Counts what the calling thread has used since it was here last, if nobody else was meanwhile.
  /// Called by each of a row of operations.
  func lap() {
    let now = Self.timeOfThisThread
    state.change { state in
      if let thread = state.thread, pthread_equal(thread, pthread_self()) != 0 {
        state.total += now - state.last
      }
      state.thread = pthread_self()
      state.last = now
    }
  }

  /// What a call of `body` costs.
  static func cost(of body: (CostMeter) -> Void) -> Duration {
    let meter = CostMeter()
    let start = timeOfThisThread
    body(meter)
    return timeOfThisThread - start + meter.state.value.total
  }

  private static var timeOfThisThread: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}

/// Expects that 16 times as many cost less than 64 times as much; what grows with the square costs
/// 256 times as much.
///
/// - Parameters:
///   - location: Where an issue is shown.
///   - body: Does something with so many, on its caller's thread and on one other.
/// - Throws: Where it hangs.
func expectLinear(
  at location: SourceLocation = #_sourceLocation,
  _ body: @escaping @Sendable (Int, CostMeter) -> Void
) async throws {
  try await onOwnThread {
    let count = Effort.scaled(1_000)
    // The least of several, because caches and interrupts only ever add.
    let few = (0..<5).map { _ in CostMeter.cost { body(count, $0) } }.min() ?? .zero
    var many = Duration.zero
    for _ in 0..<5 {
      many = CostMeter.cost { body(16 * count, $0) }
      if many < few * 64 { return }
    }
    Issue.record("\(count) cost \(few), \(16 * count) cost \(many)", sourceLocation: location)
  }
}
