// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The programs that a shim needs, in addition to `/bin/sh`.
package struct ShimPrograms: Sendable {
  /// The error that a program was not found.
  package struct Failure: Error, CustomStringConvertible {
    /// The error as one sentence.
    package let description: String

    init(program: String) {
      description = "jobs need the program \(program), which was not found"
    }
  }

  /// The shell that runs the script of the shim.
  var shell = "/bin/sh"
  /// The path of `setsid`.
  package let setsid: String
  /// The path of `env`.
  let env: String

  /// Finds the programs in the directories of the variable `PATH` of this process, and in `/usr/bin` and `/bin`.
  ///
  /// - Throws: ``Failure`` if a program was not found.
  package static func find() throws(Failure) -> Self {
    let path = csystem_secure_environment("PATH").map { String(cString: $0) } ?? ""
    return try find(in: path)
  }

  static func find(in path: String) throws(Failure) -> Self {
    // A relative directory means another one for a command with a working directory.
    let directories =
      path.split(separator: ":").filter { $0.hasPrefix("/") } + ["/usr/bin", "/bin"]
    func find(_ name: String) throws(Failure) -> String {
      for directory in directories where csystem_is_executable("\(directory)/\(name)") {
        return "\(directory)/\(name)"
      }
      throw Failure(program: name)
    }
    return ShimPrograms(setsid: try find("setsid"), env: try find("env"))
  }
}
