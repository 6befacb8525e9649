// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The program's own version, from which `--version`, the manual page and the package take it.
enum Version {
  static let number = "0.1.0"
}
