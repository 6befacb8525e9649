// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem

/// The system calls that change files. Tests replace them to inject errors. Each call returns 0 or an error number.
struct RunDisk: Sendable {
  /// Creates a directory to which only its owner has access.
  var createDirectory: @Sendable (_ path: String) -> Int32 = {
    cmonitor_create_new_private_directory($0)
  }
  /// Writes all bytes to the end of a file that has a number of bytes, or none.
  var write: @Sendable (_ file: Int32, _ bytes: UnsafeRawBufferPointer, _ size: Int64) -> Int32 = {
    cmonitor_write_all_or_none($0, $1.baseAddress, $1.count, $2)
  }
  /// Waits until a file is on the disk.
  var sync: @Sendable (_ file: Int32) -> Int32 = { cmonitor_sync($0) }

  /// The disk of this machine.
  static let system = RunDisk()

  /// Creates a file that only its owner can read and write. It is on the disk when the method returns.
  ///
  /// - Parameters:
  ///   - path: The path of the file, at which no file exists.
  ///   - bytes: The content of the file.
  /// - Throws: ``RunFailure``. No file was created.
  func create(_ path: String, _ bytes: [UInt8]) throws(RunFailure) {
    let file = cmonitor_create_file(path, CMONITOR_FAIL_IF_FILE_EXISTS, 0o600)
    guard file >= 0 else { throw RunFailure("create the file", path, error: -file) }
    // The file mode mask may have removed permissions of the owner.
    cmonitor_make_private(file)
    var error = bytes.isEmpty ? 0 : bytes.withUnsafeBytes { write(file, $0, 0) }
    if error == 0 { error = sync(file) }
    let closeError = cmonitor_close(file)
    if error == 0 { error = closeError }
    guard error == 0 else {
      cmonitor_delete(path)
      throw RunFailure("write the file", path, error: error)
    }
  }

  /// Replaces the content of a file in one step. It is on the disk when the method returns.
  ///
  /// - Parameters:
  ///   - path: The path of the file, which need not exist.
  ///   - bytes: The new content.
  /// - Throws: ``RunFailure``. The file is unchanged, unless only its directory was not written.
  func replace(_ path: String, _ bytes: [UInt8]) throws(RunFailure) {
    let new = path + ".new"
    // An earlier process may have ended before it renamed the file.
    cmonitor_delete(new)
    try create(new, bytes)
    let error = cmonitor_rename(new, path)
    guard error == 0 else {
      cmonitor_delete(new)
      throw RunFailure("write the file", path, error: error)
    }
    try syncDirectory(Self.directory(of: path))
  }

  /// Waits until the names of the files in a directory are on the disk.
  func syncDirectory(_ path: String) throws(RunFailure) {
    let error = cmonitor_sync_directory(path)
    guard error == 0 else { throw RunFailure("write the directory", path, error: error) }
  }

  /// Returns the content of a regular file.
  static func contents(_ path: String) throws(RunFailure) -> [UInt8] {
    let file = cmonitor_open_to_read(path)
    guard file >= 0 else { throw RunFailure("read the file", path, error: -file) }
    defer { cmonitor_close(file) }
    var status = cmonitor_file_status()
    let error = cmonitor_read_open_status(file, &status)
    guard error == 0 else { throw RunFailure("read the file", path, error: error) }
    guard status.is_regular else { throw RunFailure("\(path) is not a file") }
    // One byte more than the size, so that one call is enough for most files.
    var bytes = [UInt8](repeating: 0, count: Int(status.size) + 1)
    var count = 0
    while true {
      // The file can grow while it is read.
      if count == bytes.count { bytes.append(contentsOf: repeatElement(0, count: bytes.count)) }
      let read = bytes.withUnsafeMutableBytes {
        cmonitor_read(file, $0.baseAddress?.advanced(by: count), $0.count - count)
      }
      guard read >= 0 else { throw RunFailure("read the file", path, error: Int32(-read)) }
      guard read > 0 else { break }
      count += read
    }
    bytes.removeLast(bytes.count - count)
    return bytes
  }

  /// Returns the path of the directory that contains a file.
  static func directory(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Returns whether a directory exists at a path, or at the path that a link names.
  static func isDirectory(_ path: String) -> Bool {
    var status = cmonitor_file_status()
    return cmonitor_read_status(path, true, &status) == 0 && status.is_directory
  }
}
