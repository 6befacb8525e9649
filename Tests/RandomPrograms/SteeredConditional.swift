// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import Synchronization

/// An operation of a program that overrides `main()` and `isReady`.
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
    (!heedsDependencies || super.isReady) && condition.load(ordering: .acquiring)
  }

  override func main() { role.runBody() }

  /// Sets the condition of the operation, and announces the change of `isReady`.
  func setCondition(_ value: Bool) {
    willChangeValue(forKey: "isReady")
    condition.store(value, ordering: .releasing)
    didChangeValue(forKey: "isReady")
  }
}
