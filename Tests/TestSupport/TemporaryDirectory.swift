// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc

/// A new directory with a short path, as sockets need it. It is removed with its contents.
package final class TemporaryDirectory: Sendable {
  /// A system call that failed.
  package struct Failure: Error {
    /// The value of `errno`.
    package let code: Int32

    /// Creates a failure.
    package init(code: Int32) { self.code = code }
  }

  /// The path of the directory.
  package let path: String

  /// Creates the directory. Only its user can access it.
  ///
  /// - Throws: ``Failure`` if that fails.
  package init() throws(Failure) {
    var template = Array("/tmp/opq-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure(code: errno) }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit { Self.remove(path) }

  /// Returns the path of a file in it.
  package func file(_ name: String) -> String { "\(path)/\(name)" }

  private static func remove(_ path: String) {
    // This removes a link, not its destination.
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
