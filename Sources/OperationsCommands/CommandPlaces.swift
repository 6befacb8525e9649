// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// Lets commands start in the order of their requests while the process has free file descriptors. A command that waits
/// blocks no thread.
actor CommandPlaces {
  /// An error that means that too few descriptors are free, and that no command will free one.
  struct Shortage: Error {}

  static let shared = CommandPlaces()

  private var budget = DescriptorBudget()
  private var waiting: [UInt64: CheckedContinuation<Void, any Error>] = [:]
  /// The numbers of the first waiting command and of the next command that will wait. The commands between them that are
  /// not in `waiting` were cancelled.
  private var first: UInt64 = 0
  private var next: UInt64 = 0

  /// Waits until a command may start. The caller must then call `noteEnded(wasStarted:)`.
  ///
  /// - Throws: `Shortage`, or `CancellationError` if the task is cancelled while it waits.
  func enter() async throws {
    if waiting.isEmpty {
      switch decide() {
      case .start: return
      case .refuse: throw Shortage()
      case .wait: break
      }
    }
    let number = next
    next += 1
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation {
        (continuation: CheckedContinuation<Void, any Error>) in
        if Task.isCancelled {
          continuation.resume(throwing: CancellationError())
        } else {
          waiting[number] = continuation
        }
      }
    } onCancel: {
      Task { await self.cancelWait(number) }
    }
  }

  /// A command has started, and its descriptors are open.
  func noteStarted() {
    budget.noteStarted()
    startWaiting()
  }

  /// A command has ended or has not started, and its descriptors are closed.
  func noteEnded(wasStarted: Bool) {
    budget.noteEnded(wasStarted: wasStarted)
    startWaiting()
  }

  private func cancelWait(_ number: UInt64) {
    waiting.removeValue(forKey: number)?.resume(throwing: CancellationError())
  }

  private func startWaiting() {
    while !waiting.isEmpty {
      guard let continuation = waiting[first] else {
        first += 1
        continue
      }
      switch decide() {
      case .start: continuation.resume()
      case .refuse: continuation.resume(throwing: Shortage())
      case .wait: return
      }
      waiting[first] = nil
      first += 1
    }
  }

  private func decide() -> DescriptorBudget.Decision {
    budget.request(
      open: csystem_open_descriptor_count(), limit: csystem_descriptor_limit())
  }
}
