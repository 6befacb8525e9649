// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Measures the processor time of the calling thread, and of the thread on which operations execute
/// one after the other. Processor time does not depend on the load of the machine.
final class CostMeter: Sendable {
  private struct State {
    var thread: pthread_t?
    var last = Duration.zero
    var total = Duration.zero
  }

  private let state = Monitored(State())

  /// Adds the processor time that the calling thread has used since the previous call of `lap()`.
  /// If another thread made the previous call, no time is added. Each operation of a series calls
  /// this function.
  func lap() {
    let now = threadProcessorTime()
    state.change { state in
      if let thread = state.thread, pthread_equal(thread, pthread_self()) != 0 {
        state.total += now - state.last
      }
      state.thread = pthread_self()
      state.last = now
    }
  }

  /// Returns the processor time that a call of `body` uses.
  static func cost(of body: (CostMeter) -> Void) -> Duration {
    let meter = CostMeter()
    let start = threadProcessorTime()
    body(meter)
    return threadProcessorTime() - start + meter.state.value.total
  }
}

/// Expects that the cost of some work grows linearly: 16 times the number of items must cost less
/// than 64 times as much. With quadratic cost, it would be 256 times as much.
///
/// - Parameters:
///   - location: The source location of a recorded issue.
///   - body: Does the work for a number of items, on the calling thread and on one other thread.
/// - Throws: An error if the body hangs.
func expectLinear(
  at location: SourceLocation = #_sourceLocation,
  _ body: @escaping @Sendable (Int, CostMeter) -> Void
) async throws {
  try await onOwnThread {
    let count = Effort.scaled(1_000)
    // The minimum of several measurements, because caches and interrupts only add time.
    let few = (0..<5).map { _ in CostMeter.cost { body(count, $0) } }.min() ?? .zero
    var many = Duration.zero
    for _ in 0..<5 {
      many = CostMeter.cost { body(16 * count, $0) }
      if many < few * 64 { return }
    }
    Issue.record("\(count) cost \(few), \(16 * count) cost \(many)", sourceLocation: location)
  }
}
