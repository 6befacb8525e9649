// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
package import MonitorProtocol
import OperationsCore

/// The data about this process that its greetings contain. A greeting is the first message to a
/// viewer.
package enum ProcessFacts {
  package static func hello(isReadOnly: Bool) -> Hello {
    let wall = csystem_wall_nanoseconds()
    let sinceBoot = Duration.nanoseconds(csystem_boot_nanoseconds())
    let now = MonitorTime.now
    let processID = csystem_process_id()
    let start = ProcessStart(of: processID)
    var hello = Hello(
      processName: name, processID: processID, isReadOnly: isReadOnly, anchor: now,
      anchorSecondsSince1970: Double(wall) / 1e9,
      processStarted: start.map { started($0, now: now, sinceBoot: sinceBoot) } ?? now)
    hello.bootID = ProcessStart.bootID
    hello.startTicks = start?.ticks ?? 0
    hello.totalCount = QueueRegistry.totalCount
    return hello
  }

  /// The program's file name, without its directories.
  private static var name: String {
    guard let first = CommandLine.arguments.first else { return "" }
    return first.split(separator: "/").last.map(String.init) ?? first
  }

  /// Returns the time on the monotonic clock at which a process started. The monotonic clock stops
  /// while the machine sleeps. Therefore the age of the process is computed with the clock that
  /// does not stop.
  static func started(
    _ start: ProcessStart, now: MonitorTime, sinceBoot: Duration
  ) -> MonitorTime {
    min(now, now - (sinceBoot - .nanoseconds(start.nanoseconds)))
  }
}
