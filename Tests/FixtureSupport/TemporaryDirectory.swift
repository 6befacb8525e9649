// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A new directory, which is removed with its contents when this object is released. Its path is
/// short, because the paths of sockets have a limited length.
package final class TemporaryDirectory: Sendable {
  /// A system call that failed.
  package struct Failure: Error {
    /// The value of `errno`.
    package let code: Int32

    /// Creates a failure with an error number.
    package init(code: Int32) { self.code = code }
  }

  /// The path of the directory.
  package let path: String

  /// Creates the directory. Only the user of this process can access it.
  ///
  /// - Throws: ``Failure`` if the directory cannot be created.
  package init() throws(Failure) {
    var template = Array("/tmp/opq-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure(code: errno) }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit { Self.remove(path) }

  /// Returns the path of a file in the directory.
  package func file(_ name: String) -> String { "\(path)/\(name)" }

  private static func remove(_ path: String) {
    // `unlink` removes a symbolic link, and not the file or directory that the link refers to.
    if unlink(path) == 0 { return }
    for name in names(in: path) where name != "." && name != ".." { remove("\(path)/\(name)") }
    rmdir(path)
  }

  private static func names(in path: String) -> [String] {
    guard let stream = opendir(path) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) {
          String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        })
    }
    return names
  }
}
