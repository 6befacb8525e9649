// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import Testing

/// A trait for tests that must not run at the same time as other tests with this trait.
///
/// Such tests use every processor for seconds. Two of them at the same time would take longer than
/// one after the other, and would slow down other tests.
package struct OneAtATime: TestTrait, SuiteTrait, TestScoping {
  private static let turn = Turn()

  /// The trait of a suite also applies to the suite's tests.
  package let isRecursive = true

  /// Waits until no other test with this trait runs, and then runs the test.
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
  /// A trait with which only one test runs at a time.
  package static var oneAtATime: Self { OneAtATime() }
}

/// A lock that tests acquire in the order of their requests.
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
