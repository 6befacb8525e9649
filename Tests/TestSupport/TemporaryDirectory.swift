// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc

/// A new directory of a short path, as sockets need it, which goes away with all that is in it.
package final class TemporaryDirectory: Sendable {
  /// A call of the system that failed.
  package struct Failure: Error {
    /// What `errno` said.
    package let code: Int32

    /// Creates it from that.
    package init(code: Int32) { self.code = code }
  }

  /// Where it is.
  package let path: String

  /// Makes it, for its user alone.
  ///
  /// - Throws: ``Failure`` where that cannot be.
  package init() throws(Failure) {
    var template = Array("/tmp/opq-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure(code: errno) }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit { Self.remove(path) }

  /// The path of a file in it.
  package func file(_ name: String) -> String { "\(path)/\(name)" }

  private static func remove(_ path: String) {
    // A link is removed, and not what it leads to.
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
