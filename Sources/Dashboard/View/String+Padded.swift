// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension String {
  /// With spaces behind it up to so many characters.
  func padded(to count: Int) -> String {
    self + String(repeating: " ", count: max(0, count - unicodeScalars.count))
  }

  /// With spaces before it up to so many characters.
  func paddedLeft(to count: Int) -> String {
    String(repeating: " ", count: max(0, count - unicodeScalars.count)) + self
  }
}
