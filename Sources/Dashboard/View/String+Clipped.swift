// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension String {
  /// At most so many characters (Unicode scalars) from the front: names may be of any length, and what
  /// is drawn must not cost as much as they do.
  func clipped(to count: Int) -> String {
    String(UnicodeScalarView(unicodeScalars.prefix(count)))
  }
}
