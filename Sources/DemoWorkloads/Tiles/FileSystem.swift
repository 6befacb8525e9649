// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The error that a system call has reported.
struct SystemError: Error, Equatable, CustomStringConvertible {
  /// The error number of the system call, from `errno`.
  let code: Int32

  /// The error of the last system call on the present thread.
  static var last: SystemError { SystemError(code: errno) }

  /// The system's text about the error, such as "Permission denied".
  var description: String { String(cString: strerror(code)) }
}

/// Functions of the file system that the workload needs. They do not include writing files.
enum FileSystem {
  /// Creates a directory and its parent directories. If the directory exists, this is not an error.
  static func createDirectory(_ path: String) throws(SystemError) {
    if mkdir(path, 0o777) == 0 { return }
    switch errno {
    case EEXIST:
      guard isDirectory(path) else { throw SystemError(code: ENOTDIR) }
    case ENOENT:
      guard let parent = parent(of: path) else { throw SystemError(code: ENOENT) }
      try createDirectory(parent)
      // If another thread has created the same directory after the first attempt of this thread, this is not
      // an error. Several threads write tiles to the same directories.
      guard mkdir(path, 0o777) == 0 || errno == EEXIST else { throw .last }
    default:
      throw .last
    }
  }

  /// Creates a directory in `TMPDIR` or `/tmp` that no other process uses.
  static func createTemporaryDirectory() throws(SystemError) -> String {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/opq-tiles-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw .last }
    return template.withUnsafeBufferPointer { characters in
      String(decoding: characters.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }

  /// Removes a directory and its contents. Errors are ignored.
  ///
  /// The function does not follow symbolic links. If the directory is missing, this is not an error.
  static func removeTree(_ path: String) {
    if unlink(path) == 0 || errno == ENOENT { return }
    for name in names(in: path) { removeTree("\(path)/\(name)") }
    rmdir(path)
  }

  static func isDirectory(_ path: String) -> Bool {
    var information = stat()
    return stat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFDIR
  }

  /// Returns the part of a path before its last slash; `nil` if the path has no slash, or if that part is
  /// empty.
  static func parent(of path: String) -> String? {
    guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return nil }
    return String(path[..<slash])
  }

  private static func names(in directory: String) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { characters in
        characters.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }
}
