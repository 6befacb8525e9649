// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

extension VirtualScreen: CustomTestStringConvertible {
  /// The contents as a person would see them, instead of thousands of cells.
  package var testDescription: String {
    lines.map { "|\($0)|\n" }.joined()
  }
}
