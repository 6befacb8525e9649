// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc

@testable import DemoWorkloads

/// A directory that lasts as long as this value.
final class ScratchDirectory: Sendable {
  let path: String

  init() throws { path = try FileSystem.createTemporaryDirectory() }

  deinit { FileSystem.removeTree(path) }

  /// The bytes of a file below the directory; `nil` when it is not there.
  func contents(of name: String) -> [UInt8]? {
    let descriptor = open("\(path)/\(name)", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var contents: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return contents }
      contents += buffer[..<count]
    }
  }

  func text(of name: String) -> String? {
    contents(of: name).map { String(decoding: $0, as: UTF8.self) }
  }

  func exists(_ name: String) -> Bool { access("\(path)/\(name)", F_OK) == 0 }
}
