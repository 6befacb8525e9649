// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem

/// A file that appears at its path only when it is complete.
///
/// Until `commit()`, the bytes are written to a temporary file in the same directory, whose name ends with
/// `.part`. If the value is destroyed before `commit()`, the temporary file is deleted.
struct PartialFile: ~Copyable {
  private let path: String
  private let descriptor: Int32

  /// Creates the temporary file and its parent directories.
  init(path: String) throws(SystemError) {
    if let directory = FileSystem.parent(of: path) {
      try FileSystem.createDirectory(directory)
    }
    let created = cmonitor_create_file(
      path + Self.suffix, CMONITOR_TRUNCATE_EXISTING_FILE, 0o666)
    guard created >= 0 else { throw SystemError(code: -created) }
    self.path = path
    descriptor = created
  }

  deinit {
    cmonitor_close(descriptor)
    cmonitor_delete(path + Self.suffix)
  }

  /// Appends bytes to the temporary file.
  func append(_ bytes: ArraySlice<UInt8>) throws(SystemError) {
    try SystemError.check(
      bytes.withUnsafeBytes { cmonitor_write_all(descriptor, $0.baseAddress, $0.count, false) })
  }

  /// Moves the temporary file to the file's path. An existing file at this path is replaced.
  consuming func commit() throws(SystemError) {
    // The deinitializer deletes the temporary file if the file exists. After the rename, no file with the
    // temporary name exists.
    try SystemError.check(cmonitor_rename(path + Self.suffix, path))
  }

  /// Writes a text as a complete file.
  static func create(_ path: String, with text: String) throws(SystemError) {
    let file = try PartialFile(path: path)
    try file.append(Array(text.utf8)[...])
    try file.commit()
  }

  private static let suffix = ".part"
}
