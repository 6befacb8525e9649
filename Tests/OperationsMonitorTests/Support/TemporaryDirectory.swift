// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc

/// A new directory, which goes away with all that is in it.
final class TemporaryDirectory: Sendable {
  /// Where it is.
  let path: String

  init() throws {
    var template = Array("/tmp/opq-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure(code: errno) }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit {
    _ = nftw(
      path, { path, _, _, _ in path.map { remove($0) } ?? 0 }, 16, FTW_DEPTH | FTW_PHYS)
  }

  /// The path of a file in it.
  func file(_ name: String) -> String { "\(path)/\(name)" }

  /// A call of the system that failed.
  struct Failure: Error { let code: Int32 }
}
