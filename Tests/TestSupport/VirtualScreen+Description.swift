// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

extension VirtualScreen: CustomTestStringConvertible {
  /// What a person would see, in place of thousands of cells.
  package var testDescription: String {
    lines.map { "|\($0)|\n" }.joined()
  }
}
