// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import MonitorProtocol

/// A file that is read completely.
enum InputFile {
  /// The maximum size of a file in bytes. It protects against devices that never end.
  private static let mostBytes = 256 << 20

  /// The name of standard input in messages.
  static let standardInputName = "standard input"

  /// Reads a file. If it is a pipe, waits for its end.
  ///
  /// - Parameter path: The path of the file; `-` for standard input.
  /// - Returns: The contents.
  /// - Throws: `FileError` if the file cannot be read, or is too large.
  static func bytes(of path: String) throws(FileError) -> [UInt8] {
    let isStandardInput = path == "-"
    let file = isStandardInput ? cmonitor_standard_input : cmonitor_open_to_read_waiting(path)
    let name = isStandardInput ? standardInputName : path
    guard file >= 0 else { throw FileError("cannot read \(name)", errno: -file, status: 2) }
    defer { if !isStandardInput { cmonitor_close(file) } }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = cmonitor_read(file, &part, part.count)
      if count == -Int(cmonitor_error_interrupted) { continue }
      guard count >= 0 else {
        throw FileError("cannot read \(name)", errno: Int32(-count), status: 2)
      }
      if count == 0 { return bytes }
      bytes += part[..<count]
      guard bytes.count <= mostBytes else {
        throw FileError("cannot read \(name): it has more than \(mostBytes) bytes", status: 2)
      }
    }
  }
}
