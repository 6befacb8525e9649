// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Glibc
import MonitorProtocol

/// What a greeting says of this process.
enum ProcessFacts {
  /// The present time on the clock of all monitor times.
  static var now: MonitorTime { MonitorTime(nanoseconds: csystem_monotonic_nanoseconds()) }

  static func hello(isReadOnly: Bool) -> Hello {
    var wall = timespec()
    clock_gettime(CLOCK_REALTIME, &wall)
    let now = now
    return Hello(
      processName: name, processID: getpid(), isReadOnly: isReadOnly, anchor: now,
      anchorSecondsSince1970: Double(wall.tv_sec) + Double(wall.tv_nsec) / 1e9,
      processStarted: started(before: now))
  }

  /// The program's file name, without the folders.
  private static var name: String {
    guard let first = CommandLine.arguments.first else { return "" }
    return first.split(separator: "/").last.map(String.init) ?? first
  }

  /// When the process started, to a hundredth of a second.
  ///
  /// Source: proc(5), `/proc/pid/stat`, field 22, counted in clock ticks since boot; the monotonic
  /// clock starts at boot too, and differs only where the machine has slept.
  private static func started(before now: MonitorTime) -> MonitorTime {
    guard let line = line(of: "/proc/self/stat"),
      let bracket = line.lastIndex(of: UInt8(ascii: ")"))
    else { return now }
    let fields = line[bracket...].split(separator: UInt8(ascii: " "))
    // The bracket closes field 2.
    guard fields.count > 20, let ticks = Int64(String(decoding: fields[20], as: UTF8.self)) else {
      return now
    }
    let ticksPerSecond = Int64(sysconf(Int32(_SC_CLK_TCK)))
    let start = MonitorTime(nanoseconds: ticks * 1_000_000_000 / max(1, ticksPerSecond))
    return min(start, now)
  }

  private static func line(of path: String) -> ArraySlice<UInt8>? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 1_024)
    let count = read(file, &buffer, buffer.count)
    return count > 0 ? buffer[..<count] : nil
  }
}
