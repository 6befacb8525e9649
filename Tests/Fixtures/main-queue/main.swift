// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import Foundation
import MainQueueChecks

// A program whose main thread is what the first argument says.
switch CommandLine.arguments.dropFirst().first {
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
default: fatalError("Which main thread?")
}
