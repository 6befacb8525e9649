// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

/// A gate at which tasks wait without a thread until a test opens it. It counts the arrived tasks.
final class AsyncGate: Sendable {
  private struct State {
    var isOpen = false
    var arrivedCount = 0
    var nextNumber = 0
    var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
    /// The numbers of the tasks that were cancelled before they began to wait.
    var cancelledEarly: Set<Int> = []
  }

  private let state = Monitored(State())

  /// Opens the gate for all waiting tasks, and for all tasks that arrive later.
  func open() {
    let waiting = state.change { state in
      state.isOpen = true
      defer { state.waiting = [:] }
      return state.waiting
    }
    for continuation in waiting.values { continuation.resume() }
  }

  /// Resumes one waiting task, if any task waits.
  func letOnePass() {
    let first = state.change { state in
      state.waiting.keys.min().flatMap { state.waiting.removeValue(forKey: $0) }
    }
    first?.resume()
  }

  /// Makes the calling task wait until the gate is open, even if the task is cancelled.
  func pass() async {
    let number = arrive()
    try? await withCheckedThrowingContinuation { wait(number, $0) }
  }

  /// Makes the calling task wait until the gate is open or the task is cancelled.
  ///
  /// - Throws: `CancellationError`.
  func passUnlessCancelled() async throws {
    let number = arrive()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { wait(number, $0) }
    } onCancel: {
      cancel(number)
    }
  }

  /// The number of tasks that have arrived so far.
  var arrivedCount: Int { state.value.arrivedCount }

  /// Blocks the calling thread until a number of tasks have arrived.
  func waitForArrivals(_ count: Int, at location: SourceLocation = #_sourceLocation) {
    state.wait(for: "\(count) arrivals", at: location) { $0.arrivedCount >= count }
  }

  private func arrive() -> Int {
    state.change { state in
      state.arrivedCount += 1
      state.nextNumber += 1
      return state.nextNumber
    }
  }

  private func wait(_ number: Int, _ continuation: CheckedContinuation<Void, any Error>) {
    let result = state.change { state -> Result<Void, any Error>? in
      if state.isOpen { return .success(()) }
      if state.cancelledEarly.remove(number) != nil { return .failure(CancellationError()) }
      state.waiting[number] = continuation
      return nil
    }
    if let result { continuation.resume(with: result) }
  }

  private func cancel(_ number: Int) {
    let continuation = state.change { state -> CheckedContinuation<Void, any Error>? in
      if let continuation = state.waiting.removeValue(forKey: number) { return continuation }
      state.cancelledEarly.insert(number)
      return nil
    }
    continuation?.resume(throwing: CancellationError())
  }
}
