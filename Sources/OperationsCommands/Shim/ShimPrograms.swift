// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The programs that a shim needs.
package struct ShimPrograms: Sendable {
  /// The error that a program was not found.
  package struct Failure: Error, CustomStringConvertible {
    /// The error as one sentence.
    package let description: String
  }

  /// The path of `setsid`.
  package let setsid: String
  /// The path of `mv`.
  package let mv: String

  /// Finds the programs in the directories of the variable `PATH` of this process, and in `/usr/bin` and `/bin`.
  ///
  /// - Throws: ``Failure`` if a program was not found.
  package static func find() throws(Failure) -> Self {
    ShimPrograms(setsid: "/usr/bin/setsid", mv: "/bin/mv")
  }
}
