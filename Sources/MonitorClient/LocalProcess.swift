// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
package import MonitorProtocol

/// A watched process that runs on this machine and is visible to this process.
struct LocalProcess: Equatable {
  private let processID: Int32
  private let start: ProcessStart

  /// Finds the process; `nil` if it runs on another machine or is not visible.
  init?(_ hello: Hello) {
    self.init(hello, bootID: ProcessStart.bootID) { ProcessStart(of: $0) }
  }

  /// - Parameters:
  ///   - hello: Its greeting.
  ///   - bootID: The boot id of this machine.
  ///   - start: Returns when a process of this machine started.
  init?(_ hello: Hello, bootID: String, start: (Int32) -> ProcessStart?) {
    guard !hello.bootID.isEmpty, hello.bootID == bootID, let start = start(hello.processID) else {
      return nil
    }
    // In another process namespace, the same id belongs to another process.
    let isSame =
      hello.startTicks == 0
      ? start.nanoseconds == hello.processStarted.nanoseconds : start.ticks == hello.startTicks
    guard isSame else { return nil }
    processID = hello.processID
    self.start = start
  }

  /// Whether the process has certainly ended.
  var hasEnded: Bool { ProcessStart(of: processID) != start }
}

extension Hello {
  /// Returns how far the clock of a greeting's sender is ahead of this process's clock: zero on the
  /// same machine; otherwise the difference of the times, without the duration of the transfer.
  ///
  /// - Parameters:
  ///   - now: The current time on this process's clock.
  ///   - bootID: The boot id of this machine.
  /// - Returns: The duration to add to a time of this process.
  package func clockLead(at now: MonitorTime, bootID: String = ProcessStart.bootID) -> Duration {
    self.bootID == bootID ? .zero : anchor - now
  }
}
