// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import FoundationEssentials

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The error of a call of the system.
struct SystemError: Error, CustomStringConvertible {
  let number: Int32

  var description: String { String(cString: strerror(number)) }
}

/// A temporary folder with a folder of files and a folder of results.
struct Folders: Sendable {
  /// The names of the files, including the missing ones.
  let names: [String]
  private let path: String

  /// Creates the folders and the files. Each 250th file is missing.
  init(fileCount: Int) throws {
    names = (1...fileCount).map { number in
      "\(String(repeating: "0", count: 4 - String(number).count))\(number).txt"
    }
    path = FileManager.default.temporaryDirectory.path + "/batch-\(getpid())"
    for folder in ["in", "out"] {
      try FileManager.default.createDirectory(
        atPath: "\(path)/\(folder)", withIntermediateDirectories: true)
    }
    for (index, name) in names.enumerated() where (index + 1) % 250 != 0 {
      try Self.write(Array("the contents of file \(index + 1)\n".utf8), to: "\(path)/in/\(name)")
    }
  }

  /// Deletes the folders.
  func remove() { try? FileManager.default.removeItem(atPath: path) }

  /// Returns the contents of a file.
  func read(_ name: String) throws -> [UInt8] {
    let file = open("\(path)/in/\(name)", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw SystemError(number: errno) }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = Glibc.read(file, &bytes, bytes.count)
    guard count >= 0 else { throw SystemError(number: errno) }
    return Array(bytes.prefix(count))
  }

  /// Writes a result.
  func write(_ bytes: [UInt8], _ name: String) throws {
    try Self.write(bytes, to: "\(path)/out/\(name)")
  }

  /// Writes the index.
  func writeIndex(_ lines: [String]) throws {
    try Self.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: "\(path)/out/index")
  }

  private static func write(_ bytes: [UInt8], to path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw SystemError(number: errno) }
    defer { close(file) }
    guard Glibc.write(file, bytes, bytes.count) == bytes.count else {
      throw SystemError(number: errno)
    }
  }
}
