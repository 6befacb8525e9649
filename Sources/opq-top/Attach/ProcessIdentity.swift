// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import MonitorProtocol
import OperationsMonitor

/// Which process a greeting came from: the same, if the connection is made anew.
struct ProcessIdentity: Equatable {
  private let processID: Int32
  private let started: MonitorTime
  private let bootID: String
  /// When it started, where it runs on this machine and is visible here; `nil` where it is not.
  private let localStart: ProcessStart?

  init(_ hello: Hello) {
    processID = hello.processID
    started = hello.processStarted
    bootID = hello.bootID
    let isLocal = !hello.bootID.isEmpty && hello.bootID == ProcessStart.bootID
    let start = isLocal ? ProcessStart(of: hello.processID) : nil
    // In another namespace of ids the number is another process's here.
    localStart = start?.nanoseconds == hello.processStarted.nanoseconds ? start : nil
  }

  /// Whether it has certainly ended.
  var hasEnded: Bool { localStart.map { ProcessStart(of: processID) != $0 } ?? false }

  static func == (left: Self, right: Self) -> Bool {
    left.processID == right.processID && left.started == right.started
      && left.bootID == right.bootID
  }
}
