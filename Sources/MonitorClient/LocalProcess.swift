// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A watched process that runs on this machine and is visible to this process.
struct LocalProcess: Equatable {
  private let processID: Int32
  private let start: ProcessStart

  /// Finds the process that has sent a greeting; `nil` if it runs on another machine or is not
  /// visible.
  init?(_ hello: Hello) {
    self.init(hello, bootID: ProcessStart.bootID) { ProcessStart(of: $0) }
  }

  /// Finds the process that has sent a greeting, with facts about this machine from the caller;
  /// `nil` if the process runs on another machine or is not visible.
  ///
  /// - Parameters:
  ///   - hello: The greeting of the process.
  ///   - bootID: The boot id of this machine.
  ///   - start: A closure that returns the start of the process with an id; `nil` if this machine
  ///     has no such process.
  init?(_ hello: Hello, bootID: String, start: (Int32) -> ProcessStart?) {
    guard !hello.bootID.isEmpty, hello.bootID == bootID, let start = start(hello.processID) else {
      return nil
    }
    // The process id alone does not identify the process: in another process namespace, the same id
    // belongs to another process. Therefore the start times are compared too.
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
