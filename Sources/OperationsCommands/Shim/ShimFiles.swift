// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import SystemPackage

/// The files of one attempt of a command that a shim runs.
///
/// The shim is a shell in a session of its own. It starts the command, waits for its end, and writes its exit status to
/// a file. It continues when the process that has started it ends.
package struct ShimFiles: Hashable, Sendable {
  /// The path that all files begin with.
  package let base: String

  /// Creates the names of the files. No file is created.
  ///
  /// - Parameter base: The path that all files begin with. Its directory must exist when the shim starts.
  package init(base: String) { self.base = base }

  /// The file with the output of the command.
  package var log: String { "\(base).log" }
  /// The file with the exit status of the command. The file exists only after the end of the command, and is complete
  /// when the shim has ended.
  package var status: String { "\(base).status" }
  /// The file that is locked while the shim is alive. It contains the lines of the files `/proc/PID/stat` of the shim,
  /// and of the first process of the command, which is the leader of the command's process group.
  package var shim: String { "\(base).shim" }

  /// The same files with absolute paths.
  var absolute: ShimFiles {
    if base.hasPrefix("/") { return self }
    var bytes = [CChar](repeating: 0, count: 1 << 12)
    guard csystem_current_directory(&bytes, bytes.count) == 0 else { return self }
    let directory = bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
    return ShimFiles(base: "\(String(decoding: directory, as: UTF8.self))/\(base)")
  }

  // MARK: Contents

  /// What the locked file says about the shim and the first process of the command; `nil` for a process that has not
  /// written its line.
  ///
  /// The shim is the leader of its process group, and the parent of the first process of the command. So a line at the
  /// wrong place is not taken for the line of the other process.
  ///
  /// - Throws: The error of the system if the file cannot be read. A file that does not exist is no error.
  var processes: (shim: ProcessIdentity?, command: ProcessIdentity?) {
    get throws(Errno) {
      let text = try Self.contents(of: shim) ?? ""
      // A line without a line feed may not be complete.
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      let processes = lines.prefix(2).map { Self.status($0) }
      guard let shim = processes.first ?? nil, shim.process == shim.group else { return (nil, nil) }
      let command = processes.count > 1 ? processes[1] : nil
      let isChild = command?.parent == shim.process
      return (ProcessIdentity(shim), isChild ? command.map { ProcessIdentity($0) } : nil)
    }
  }

  /// Reads a line of a file `/proc/PID/stat`; `nil` if it is not complete.
  private static func status(_ line: some StringProtocol) -> csystem_process_status? {
    var status = csystem_process_status()
    let isComplete = csystem_parse_process_status(String(line), &status)
    return isComplete && status.process > 1 ? status : nil
  }

  /// The exit status that the shim has written, from 0 to 255; `nil` if the file does not exist or is damaged.
  ///
  /// - Throws: The error of the system if the file cannot be read.
  var exitStatus: Int32? {
    get throws(Errno) {
      guard let text = try Self.contents(of: status), text.hasSuffix("\n"), text.utf8.count <= 4,
        text.dropLast().utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") })
      else { return nil }
      return UInt8(text.dropLast()).map { Int32($0) }
    }
  }

  /// Returns the first bytes of a small file; `nil` if it does not exist.
  ///
  /// - Throws: The error of the system if the file cannot be read, for example because this process has no free
  ///   descriptor.
  private static func contents(of path: String) throws(Errno) -> String? {
    var bytes = [UInt8](repeating: 0, count: 1 << 12)
    let count = csystem_read_file(path, &bytes, bytes.count)
    if count >= 0 { return String(decoding: bytes[..<count], as: UTF8.self) }
    let error = Int32(-count)
    if csystem_is_not_found(error) { return nil }
    throw Errno(rawValue: error)
  }
}
