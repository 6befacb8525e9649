// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import Testing

/// A door that threads wait at until a test opens it; it counts who has come.
package final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var arrivedCount = 0
  }

  private let state = Monitored(State())

  /// Creates a gate that is shut.
  package init() {}

  /// Lets everyone pass, now and later.
  package func open() { state.change { $0.isOpen = true } }

  /// Blocks the calling thread until the gate is open, without being counted as an arrival.
  ///
  /// - Returns: Whether it was opened in time; an issue has been recorded where not.
  package func waitUntilOpen(at location: SourceLocation = #_sourceLocation) -> Bool {
    state.wait(for: "a gate to be opened", at: location) { $0.isOpen }
  }

  /// How many threads have come to the gate so far, those that have passed it included.
  package var arrivedCount: Int { state.value.arrivedCount }

  /// Blocks the calling thread until the gate is open. Where that takes too long an issue is
  /// recorded and the thread goes on.
  package func pass(at location: SourceLocation = #_sourceLocation) {
    state.change { $0.arrivedCount += 1 }
    state.wait(for: "a gate to be opened", at: location) { $0.isOpen }
  }

  /// Blocks the calling thread until so many have come to the gate. An issue is recorded where they
  /// do not come in time.
  @discardableResult
  package func waitForArrivals(_ count: Int, at location: SourceLocation = #_sourceLocation) -> Bool
  {
    state.wait(for: "\(count) arrivals at a gate", at: location) { $0.arrivedCount >= count }
  }
}
