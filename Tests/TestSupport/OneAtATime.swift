// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import Testing

/// Lets one test of all that have this trait run at a time.
///
/// For those that keep every processor busy for seconds: two of them at once would be slower than
/// one after the other, and starve the tests beside them.
package struct OneAtATime: TestTrait, SuiteTrait, TestScoping {
  private static let turn = Turn()

  /// Suites hand it on to their tests.
  package let isRecursive = true

  /// Waits for its turn, runs the test, and lets the next one have its turn.
  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    await Self.turn.take()
    defer { Self.turn.giveBack() }
    try await function()
  }
}

extension Trait where Self == OneAtATime {
  /// One test of all that have this trait runs at a time.
  package static var oneAtATime: Self { OneAtATime() }
}

/// Given to who asks first.
private final class Turn: Sendable {
  private struct State {
    var isTaken = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Monitored(State())

  func take() async {
    await withCheckedContinuation { continuation in
      let isMine = state.change { state in
        defer { state.isTaken = true }
        if state.isTaken { state.waiting.append(continuation) }
        return !state.isTaken
      }
      if isMine { continuation.resume() }
    }
  }

  func giveBack() {
    let next = state.change { state -> CheckedContinuation<Void, Never>? in
      if state.waiting.isEmpty {
        state.isTaken = false
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?.resume()
  }
}
