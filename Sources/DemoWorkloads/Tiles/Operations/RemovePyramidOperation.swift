// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// An operation that removes the files of a pyramid that is no longer needed.
// Unchecked because its superclass is open; all its stored properties are constants of Sendable
// types.
final class RemovePyramidOperation: Operation, @unchecked Sendable {
  private let directory: String

  init(directory: String) { self.directory = directory }

  override func main() { FileSystem.removeTree(directory) }
}
