// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

extension VirtualScreen: CustomTestStringConvertible {
  /// The rows of the screen as text, which is easier to read than a list of cells.
  package var testDescription: String {
    lines.map { "|\($0)|\n" }.joined()
  }
}
