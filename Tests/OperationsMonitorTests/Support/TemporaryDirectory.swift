// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc

@testable import OperationsMonitor

/// A new directory, which goes away with all that is in it.
final class TemporaryDirectory: Sendable {
  /// Where it is.
  let path: String

  init() throws {
    var template = Array("/tmp/opq-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure(code: errno) }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit { Self.remove(path) }

  private static func remove(_ path: String) {
    let directory = MonitorDirectory(path: path)
    // A link is removed, and not what it leads to.
    if unlink(path) == 0 { return }
    for name in directory.fileNames { remove(directory.path(of: name)) }
    rmdir(path)
  }

  /// The path of a file in it.
  func file(_ name: String) -> String { "\(path)/\(name)" }

  /// A call of the system that failed.
  struct Failure: Error { let code: Int32 }
}
