// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// An operation of a program that overrides `main()`.
final class SteeredPlain: Operation, @unchecked Sendable {
  private let role: Role

  init(_ role: Role) {
    self.role = role
    super.init()
  }

  deinit { role.wasDestroyed() }

  override func main() { role.runBody() }
}
