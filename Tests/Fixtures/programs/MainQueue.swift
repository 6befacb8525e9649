// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import Foundation
import MainQueueChecks

/// A program whose main thread serves the main queue in one of several ways, or does not serve it.
enum MainQueue {
  /// Runs the test whose name is the first argument.
  static func run(_ arguments: [String]) {
    switch arguments.first {
    case "dispatch-main":
      checkMainQueue(isServedByMainThread: false)
      dispatchMain()
    case "run-loop":
      checkMainQueue(isServedByMainThread: true)
      RunLoop.main.run()
    case "waiting": checkWaitingOnMainThread()
    case "waiting-while-served":
      checkWaitingForStarted()
      RunLoop.main.run()
    case "trap": waitOnMainThread()
    default:
      fatalError("usage: main-queue dispatch-main|run-loop|waiting|waiting-while-served|trap")
    }
  }
}
