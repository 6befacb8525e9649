// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension TemporaryDirectory {
  /// Returns the bytes of a file below the directory; `nil` if it does not exist.
  func contents(of name: String) -> [UInt8]? {
    let descriptor = open(file(name), O_RDONLY | O_CLOEXEC)
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

  func exists(_ name: String) -> Bool { access(file(name), F_OK) == 0 }
}
