// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

@testable import OperationsCore

/// An operation of a random program that overrides `main()` and `isReady`.
final class SteeredConditional: SteeredOperation, @unchecked Sendable {
  private let heedsDependencies: Bool
  private let condition = Atomic<Bool>(true)

  /// Creates an operation of a random program.
  ///
  /// - Parameters:
  ///   - role: The connection of the operation to its program.
  ///   - heedsDependencies: Whether `isReady` also uses `super`.
  init(_ role: Role, heedsDependencies: Bool) {
    self.heedsDependencies = heedsDependencies
    super.init(role)
  }

  override var isReady: Bool {
    (!heedsDependencies || super.isReady)
      && (role.ignoresCondition || condition.load(ordering: .sequentiallyConsistent))
  }

  override func main() { role.runBody() }

  /// Sets the condition of the operation, and announces the change of `isReady`.
  func setCondition(_ value: Bool) {
    willChangeValue(forKey: "isReady")
    role.reports.note { state in
      condition.store(value, ordering: .sequentiallyConsistent)
      if value { state.entries[role.index].isAllowed = true }
    }
    if !value { noteRefusal() }
    didChangeValue(forKey: "isReady")
  }

  /// Notes that the operation must not begin before the condition is `true` again, unless the queue has
  /// chosen the operation. The queue reads the condition after its choice, and therefore after this call.
  private func noteRefusal() {
    role.reports.note { state in
      let isFalse = !condition.load(ordering: .sequentiallyConsistent)
      if isFalse, !status.load(ordering: .sequentiallyConsistent).has(.dispatched) {
        state.entries[role.index].isAllowed = false
      }
    }
  }
}
