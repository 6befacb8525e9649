// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
package import MonitorProtocol

/// A watched process that runs on this machine and is visible here.
struct LocalProcess: Equatable {
  private let processID: Int32
  private let start: ProcessStart

  /// Finds it; `nil` where it runs elsewhere, or is not visible.
  init?(_ hello: Hello) {
    self.init(hello, bootID: ProcessStart.bootID) { ProcessStart(of: $0) }
  }

  /// - Parameters:
  ///   - hello: Its greeting.
  ///   - bootID: This machine's.
  ///   - start: When a process of this machine started.
  init?(_ hello: Hello, bootID: String, start: (Int32) -> ProcessStart?) {
    guard !hello.bootID.isEmpty, hello.bootID == bootID, let start = start(hello.processID) else {
      return nil
    }
    // In another namespace of ids the number is another process's here.
    let isSame =
      hello.startTicks == 0
      ? start.nanoseconds == hello.processStarted.nanoseconds : start.ticks == hello.startTicks
    guard isSame else { return nil }
    processID = hello.processID
    self.start = start
  }

  /// Whether it has certainly ended.
  var hasEnded: Bool { ProcessStart(of: processID) != start }
}

extension Hello {
  /// How far the clock of who greets is ahead of this process's: nothing on the same machine, and else
  /// what it says of itself, less the time that the greeting took.
  ///
  /// - Parameters:
  ///   - now: The present time on this process's clock.
  ///   - bootID: This machine's.
  /// - Returns: What to add to a time of this process's.
  package func clockLead(at now: MonitorTime, bootID: String = ProcessStart.bootID) -> Duration {
    self.bootID == bootID ? .zero : anchor - now
  }
}
