// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem

/// The error that a system call has reported.
struct SystemError: Error, Equatable, CustomStringConvertible {
  /// The error number of the system call.
  let code: Int32

  /// Throws an error unless the result of a system call is 0, which means success.
  static func check(_ code: Int32) throws(SystemError) {
    guard code == 0 else { throw SystemError(code: code) }
  }

  /// The system's text about the error, such as "Permission denied".
  var description: String { String(cString: cmonitor_error_text(code)) }
}

/// Functions of the file system that the workload needs. They do not include writing files.
enum FileSystem {
  /// Creates a directory and its parent directories. If the directory exists, this is not an error.
  static func createDirectory(_ path: String) throws(SystemError) {
    let error = cmonitor_create_directory(path, 0o777)
    switch error {
    case 0: return
    case cmonitor_error_file_exists:
      guard isDirectory(path) else { throw SystemError(code: cmonitor_error_not_a_directory) }
    case cmonitor_error_no_such_file:
      guard let parent = parent(of: path) else { throw SystemError(code: error) }
      try createDirectory(parent)
      // If another thread has created the same directory after the first attempt of this thread, this is not
      // an error. Several threads write tiles to the same directories.
      let secondError = cmonitor_create_directory(path, 0o777)
      if secondError != cmonitor_error_file_exists { try SystemError.check(secondError) }
    default:
      throw SystemError(code: error)
    }
  }

  /// Creates a directory in `TMPDIR`, or in `/tmp` if the variable is unset or empty. No other process uses the
  /// directory.
  static func createTemporaryDirectory() throws(SystemError) -> String {
    let named = cmonitor_environment("TMPDIR").map { String(cString: $0) } ?? ""
    let parent = named.isEmpty ? "/tmp" : named
    var template = Array("\(parent)/opq-tiles-XXXXXX".utf8CString)
    try SystemError.check(cmonitor_create_unique_directory(&template))
    return template.withUnsafeBufferPointer { characters in
      String(decoding: characters.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }

  /// Removes a directory and its contents. Errors are ignored.
  ///
  /// The function does not follow symbolic links. If the directory is missing, this is not an error.
  static func removeTree(_ path: String) {
    if [0, cmonitor_error_no_such_file].contains(cmonitor_delete(path)) { return }
    for name in names(in: path) { removeTree("\(path)/\(name)") }
    cmonitor_delete_directory(path)
  }

  static func isDirectory(_ path: String) -> Bool {
    var status = cmonitor_file_status()
    return cmonitor_read_status(path, true, &status) == 0 && status.is_directory
  }

  /// Returns the part of a path before its last slash; `nil` if the path has no slash, or if that part is
  /// empty.
  static func parent(of path: String) -> String? {
    guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return nil }
    return String(path[..<slash])
  }

  private static func names(in directory: String) -> [String] {
    guard let stream = cmonitor_open_directory(directory) else { return [] }
    defer { cmonitor_close_directory(stream) }
    var names: [String] = []
    while let name = cmonitor_next_name(stream) { names.append(String(cString: name)) }
    return names
  }
}
