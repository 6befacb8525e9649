// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc

/// What the kernel says of a thread of this process.
enum ThreadStatus {
  /// Whether the thread sleeps in the kernel rather than runs or waits for a processor; `nil` if that
  /// cannot be read: no descriptor is free, or the file system is not mounted.
  ///
  /// Source: proc(5), `/proc/pid/stat`, field 3.
  static func isBlocked(threadID: Int32, below root: String = "/proc/self/task") -> Bool? {
    let file = open("\(root)/\(threadID)/stat", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 256) { buffer in
      let count = read(file, buffer.baseAddress, buffer.count)
      guard count > 0 else { return nil }
      return state(in: buffer.prefix(count)) != UInt8(ascii: "R")
    }
  }

  /// The letter after the thread's name, which stands in brackets and may itself hold brackets.
  static func state(in line: some BidirectionalCollection<UInt8>) -> UInt8 {
    guard let bracket = line.lastIndex(of: UInt8(ascii: ")")) else { return UInt8(ascii: "R") }
    return line[bracket...].dropFirst(2).first ?? UInt8(ascii: "R")
  }

  /// The processor time that the thread has used, in nanoseconds; `nil` if it has ended. Needs no
  /// descriptor.
  static func processorTime(threadID: Int32) -> Int64? {
    // The id of the clock holds the inverted id of the thread. In the low bits: one thread's, and the
    // time that the scheduler has measured. Source: Linux, `include/linux/posix-timers_types.h`.
    let clock = ~threadID << 3 | 6
    var time = timespec()
    guard clock_gettime(clock, &time) == 0 else { return nil }
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
