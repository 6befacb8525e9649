// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The lines of the whole process, and which operation each member of them is.
final class Exclusions: Sendable {
  static let shared = Exclusions()

  private struct State {
    var lines = ExclusionLines()
    var numbers: [ObjectIdentifier: ExclusionLines.Number] = [:]
    /// Each from when it joined until it has finished.
    var operations: [ExclusionLines.Number: Operation] = [:]
  }

  private let state = Locked(State())

  /// Asks for an operation that its queue has chosen. Its queue is told when the answer has changed.
  ///
  /// - Parameters:
  ///   - operation: May be asked for as often as it is chosen.
  ///   - categories: What it wants; looked at the first time.
  /// - Returns: Whether it may start; else it has a place in line.
  /// - Precondition: The operation has promised to leave when it finishes.
  func admit(_ operation: Operation, _ categories: Set<ExclusionCategory>) -> Bool {
    state.withLock { state in
      if let number = state.numbers[ObjectIdentifier(operation)] {
        return state.lines.obstacle(of: number) == nil
      }
      // Who finishes it leaves after that: either finds it here, or is seen here.
      if operation.status.load(ordering: .sequentiallyConsistent).isFinished { return true }
      let (number, hasAll) = state.lines.join(categories)
      state.numbers[ObjectIdentifier(operation)] = number
      state.operations[number] = operation
      return hasAll
    }
  }

  /// Whether an operation has a place in line, or what it wants.
  func hasJoined(_ operation: Operation) -> Bool {
    state.withLock { $0.numbers[ObjectIdentifier(operation)] != nil }
  }

  /// An operation has finished. Calls nothing of the user's but a `deinit`.
  func leave(_ operation: Operation) {
    let (left, next) = state.withLock { state -> (Operation?, [Operation]) in
      guard let number = state.numbers.removeValue(forKey: ObjectIdentifier(operation)) else {
        return (nil, [])
      }
      let left = state.operations.removeValue(forKey: number)
      return (left, state.lines.leave(number).compactMap { state.operations[$0] })
    }
    for operation in next where operation.update({ $0.exclusionHasEnded() }) {
      operation.pushToQueue()
    }
    withExtendedLifetime(left) {}
  }

  /// What an operation waits for, and who has it; `nil` where it does not.
  func obstacle(
    of operation: Operation
  ) -> (category: ExclusionCategory, holders: [Operation])? {
    state.withLock { state in
      state.numbers[ObjectIdentifier(operation)].flatMap { state.lines.obstacle(of: $0) }
        .map { obstacle in
          (obstacle.category, obstacle.holders.compactMap { state.operations[$0] })
        }
    }
  }
}
