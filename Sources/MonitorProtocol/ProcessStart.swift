// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc

/// When a process started, in the kernel's clock ticks since the machine did: together with its id it
/// names one process for as long as the machine runs.
///
/// Source: proc(5), `/proc/pid/stat`, fields 3 and 22.
package struct ProcessStart: Sendable, Equatable {
  /// Clock ticks.
  package let ticks: UInt64

  /// Takes over a number of ticks.
  package init(ticks: UInt64) { self.ticks = ticks }

  /// Asks the system; `nil` where there is no such process, or it has ended and nobody has asked how.
  package init?(of process: Int32) {
    guard let line = Self.contents(of: "/proc/\(process)/stat"),
      // It closes field 2, which may have brackets in it.
      let bracket = line.lastIndex(of: UInt8(ascii: ")"))
    else { return nil }
    let fields = line[bracket...].split(separator: UInt8(ascii: " "))
    guard fields.count > 20, !["Z", "X"].contains(String(decoding: fields[1], as: UTF8.self)),
      let ticks = UInt64(String(decoding: fields[20], as: UTF8.self))
    else { return nil }
    self.ticks = ticks
  }

  /// Changes with each start of the machine; empty where the system does not tell.
  package static let bootID = String(
    decoding: contents(of: "/proc/sys/kernel/random/boot_id")?.prefix {
      $0 != UInt8(ascii: "\n")
    } ?? [], as: UTF8.self)

  /// Nanoseconds since the machine started, to a hundredth of a second.
  package var nanoseconds: Int64 {
    let ticksPerSecond = UInt64(max(1, sysconf(Int32(_SC_CLK_TCK))))
    let rest = ticks % ticksPerSecond * 1_000_000_000 / ticksPerSecond
    return Int64(truncatingIfNeeded: ticks / ticksPerSecond &* 1_000_000_000 &+ rest)
  }

  /// What stands in a file of the kernel's; at most 1 KiB.
  static func contents(of path: String) -> ArraySlice<UInt8>? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 1_024)
    let count = read(file, &buffer, buffer.count)
    return count > 0 ? buffer[..<count] : nil
  }
}
