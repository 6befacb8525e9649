// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// An operation of a random program that overrides `main()`.
final class SteeredPlain: SteeredOperation, @unchecked Sendable {
  override func main() { role.runBody() }
}
