// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Glibc
import MonitorProtocol
import OperationsCore

/// What a greeting says of this process.
enum ProcessFacts {
  /// The present time on the clock of all monitor times.
  static var now: MonitorTime { MonitorTime(nanoseconds: csystem_monotonic_nanoseconds()) }

  static func hello(isReadOnly: Bool) -> Hello {
    var wall = timespec()
    clock_gettime(CLOCK_REALTIME, &wall)
    let now = now
    var hello = Hello(
      processName: name, processID: getpid(), isReadOnly: isReadOnly, anchor: now,
      anchorSecondsSince1970: Double(wall.tv_sec) + Double(wall.tv_nsec) / 1e9,
      processStarted: started(before: now))
    hello.bootID = ProcessStart.bootID
    hello.totalCount = QueueRegistry.totalCount
    return hello
  }

  /// The program's file name, without the folders.
  private static var name: String {
    guard let first = CommandLine.arguments.first else { return "" }
    return first.split(separator: "/").last.map(String.init) ?? first
  }

  /// When the process started. The monotonic clock starts at boot too, and differs only where the
  /// machine has slept.
  private static func started(before now: MonitorTime) -> MonitorTime {
    guard let start = ProcessStart(of: getpid()) else { return now }
    return min(MonitorTime(nanoseconds: start.nanoseconds), now)
  }
}
