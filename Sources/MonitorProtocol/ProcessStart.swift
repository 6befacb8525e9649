// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import COperationsSystem

/// When a process started, in the kernel's clock ticks since boot. Together with the process id, it
/// identifies one process until the machine reboots.
///
/// Source: proc(5), `/proc/pid/stat`, fields 3 and 22.
package struct ProcessStart: Sendable, Equatable {
  /// The number of clock ticks since boot.
  package let ticks: UInt64

  /// Creates the start time of a process from a number of clock ticks.
  package init(ticks: UInt64) { self.ticks = ticks }

  /// Reads the start of a process from the system; `nil` if the process does not exist or is a
  /// zombie.
  package init?(of process: Int32) {
    guard let line = Self.contents(of: "/proc/\(process)/stat"),
      // In the file `/proc/PID/stat`, the program's name is field 2 and is in brackets. The last
      // bracket of the line ends it, because the name may also contain brackets.
      let bracket = line.lastIndex(of: UInt8(ascii: ")"))
    else { return nil }
    let fields = line[bracket...].split(separator: UInt8(ascii: " "))
    guard fields.count > 20, !["Z", "X"].contains(String(decoding: fields[1], as: UTF8.self)),
      let ticks = UInt64(String(decoding: fields[20], as: UTF8.self))
    else { return nil }
    self.ticks = ticks
  }

  /// A text that identifies the current boot of the machine; empty if the system does not provide
  /// it. It changes with each boot.
  package static let bootID = String(
    decoding: contents(of: "/proc/sys/kernel/random/boot_id")?.prefix {
      $0 != UInt8(ascii: "\n")
    } ?? [], as: UTF8.self)

  /// The start time in nanoseconds since boot, exact to a hundredth of a second.
  package var nanoseconds: Int64 {
    let ticksPerSecond = UInt64(cmonitor_ticks_per_second())
    let rest = ticks % ticksPerSecond * 1_000_000_000 / ticksPerSecond
    return Int64(truncatingIfNeeded: ticks / ticksPerSecond &* 1_000_000_000 &+ rest)
  }

  /// Returns the contents of a file that the kernel provides, for example in `/proc`; at most 1 KiB.
  static func contents(of path: String) -> ArraySlice<UInt8>? {
    let file = csystem_open_to_read(path)
    guard file >= 0 else { return nil }
    defer { csystem_close(file) }
    var buffer = [UInt8](repeating: 0, count: 1_024)
    let count = csystem_read(file, &buffer, buffer.count)
    return count > 0 ? buffer[..<count] : nil
  }
}
