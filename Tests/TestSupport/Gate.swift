// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import Testing

/// A gate at which threads wait until a test opens it. It counts the arrived threads.
package final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var arrivedCount = 0
  }

  private let state = Monitored(State())

  /// Creates a closed gate.
  package init() {}

  /// Opens the gate for all waiting threads, and for all threads that arrive later.
  package func open() { state.change { $0.isOpen = true } }

  /// Whether the gate is open.
  package var isOpen: Bool { state.value.isOpen }

  /// Blocks the calling thread until the gate is open. The thread does not count as arrived.
  ///
  /// - Returns: Whether the gate was opened in time. If it was not, an issue has been recorded.
  package func waitUntilOpen(at location: SourceLocation = #_sourceLocation) -> Bool {
    state.wait(for: "a gate to be opened", at: location) { $0.isOpen }
  }

  /// The number of threads that have arrived so far, including those that have passed.
  package var arrivedCount: Int { state.value.arrivedCount }

  /// Counts the calling thread as arrived, and blocks it until the gate is open. Records an issue
  /// and returns if the gate is not opened in time.
  package func pass(at location: SourceLocation = #_sourceLocation) {
    state.change { $0.arrivedCount += 1 }
    state.wait(for: "a gate to be opened", at: location) { $0.isOpen }
  }

  /// Blocks the calling thread until a number of threads have arrived. Records an issue if they do
  /// not arrive in time.
  @discardableResult
  package func waitForArrivals(_ count: Int, at location: SourceLocation = #_sourceLocation) -> Bool
  {
    state.wait(for: "\(count) arrivals at a gate", at: location) { $0.arrivedCount >= count }
  }
}
