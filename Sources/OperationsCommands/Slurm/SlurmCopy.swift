// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import SystemPackage

/// A copy of the output of a job in a file of this machine. The file contains the beginning of the output, so that a
/// later process can continue the copy.
struct SlurmCopy: Sendable {
  /// The path of the file.
  let path: String

  /// The size of the file in bytes; 0 if it does not exist.
  var size: Int64 {
    let file = csystem_open_input(path)
    guard file >= 0 else { return 0 }
    defer { csystem_close(file) }
    return max(0, csystem_file_size(file))
  }

  /// Adds bytes at the end of the file. If the bytes begin at 0, the command has emptied its output, and the file is
  /// emptied too.
  ///
  /// - Parameter part: The bytes, which follow those of the file.
  /// - Returns: Why the bytes cannot be written; `nil` if they were written.
  func add(_ part: SlurmFileContents.Part) -> String? {
    let file =
      part.position == 0
      ? csystem_create_private_file(path) : csystem_open_private_output(path)
    guard file >= 0 else { return "\(Errno(rawValue: -file))" }
    defer { csystem_close(file) }
    let error = csystem_write(file, part.bytes, part.bytes.count)
    return error == 0 ? nil : "\(Errno(rawValue: error))"
  }
}
