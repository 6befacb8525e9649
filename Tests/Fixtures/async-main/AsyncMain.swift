// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MainQueueChecks
import OperationsCore

/// A program with an asynchronous `main` function, which checks the main queue.
@main
struct AsyncMain {
  static func main() async {
    checkMainQueue(isServedByMainThread: false)
    await withCheckedContinuation { continuation in
      OperationQueue.main.addOperation { continuation.resume() }
    }
    precondition(OperationQueue.current === OperationQueue.main, "Not on the main actor")
    // The thread that makes the checks ends the program.
    while true { await Task.yield() }
  }
}
