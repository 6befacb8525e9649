// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc

/// What the kernel says of this process.
package enum ProcessStatus {
  /// A line of `/proc/self/status`, such as `Threads`, or `VmHWM`: the most memory ever, in KiB, which,
  /// other than that of `getrusage`, does not go on from before the program began.
  ///
  /// - Parameter name: What stands before the colon. The program ends where there is no such line.
  /// - Returns: The number behind it.
  package static func amount(_ name: String) -> Int {
    guard let amount = amount(name, of: getpid()) else {
      fatalError("/proc/self/status has no \(name)")
    }
    return amount
  }

  /// The same of another process; `nil` where there is none, or no such line.
  package static func amount(_ name: String, of process: Int32) -> Int? {
    guard let status = fopen("/proc/\(process)/status", "r") else { return nil }
    defer { fclose(status) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), status) != nil {
      let words = String(
        decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self
      )
      .split { $0 == ":" || $0.isWhitespace }
      if words.first == name[...] { return words.dropFirst().first.flatMap { Int($0) } }
    }
    return nil
  }

  /// How many descriptors a process has open; `nil` where there is none.
  package static func descriptorCount(of process: Int32) -> Int? {
    entryCount("/proc/\(process)/fd")
  }

  private static func entryCount(_ path: String) -> Int? {
    guard let directory = opendir(path) else { return nil }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    // Itself, and the folder that it is in.
    return count - 2
  }
}
