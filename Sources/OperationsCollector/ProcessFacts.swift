// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
package import MonitorProtocol
import OperationsCore

/// The data about this process that its greetings contain. A greeting is the first message to a
/// viewer.
package enum ProcessFacts {
  private static let givenName = Locked<String?>(nil)

  /// Sets the name of this process for the greetings of viewers that attach later, such as
  /// `run jobs.yaml`. If the name is `nil`, the name is that of the program.
  package static func setName(_ name: String?) { givenName.withLock { $0 = name } }

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
    hello.canRetry = JobRetry.isPossible
    return hello
  }

  /// The name that the program has set, or its file name without its directories.
  private static var name: String {
    if let name = givenName.withLock({ $0 }) { return name }
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
