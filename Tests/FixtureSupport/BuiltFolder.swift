// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The folder that contains the running program, and the other programs of the package that were
/// built with it.
package enum BuiltFolder {
  private static let path: String = {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = max(0, readlink("/proc/self/exe", &path, path.count))
    let bytes = path.prefix(length).map(UInt8.init(bitPattern:))
    return String(
      decoding: bytes.prefix((bytes.lastIndex(of: UInt8(ascii: "/")) ?? 0)), as: UTF8.self)
  }()

  /// Returns the path of a program of the package, or of another file in the folder.
  package static func path(of program: String) -> String { "\(path)/\(program)" }
}
