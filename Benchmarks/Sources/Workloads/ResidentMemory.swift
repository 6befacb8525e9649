// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc

/// How much of the process is in memory.
public enum ResidentMemory {
  /// How many bytes it grows by during `work`, divided by `size`.
  ///
  /// Means something only where the process has freed nothing worth mentioning before, whose place
  /// could be used again: each benchmark runs in a process of its own.
  public static func growth(size: Int, during work: () -> Void) -> Int {
    let before = bytes
    work()
    return (bytes - before) / size
  }

  /// The second number in the file is the number of resident pages (proc(5)).
  private static var bytes: Int {
    let file = open("/proc/self/statm", O_RDONLY)
    precondition(file >= 0, "/proc/self/statm cannot be read")
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 128)
    let count = read(file, &buffer, buffer.count)
    let words = String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self).split(separator: " ")
    guard words.count > 1, let pages = Int(words[1]) else { return 0 }
    return pages * sysconf(Int32(_SC_PAGESIZE))
  }
}
