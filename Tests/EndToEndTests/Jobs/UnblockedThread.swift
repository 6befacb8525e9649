// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension PseudoTerminal {
  /// Sends a signal to the thread of the program that blocks no signals. swift-subprocess starts this thread together
  /// with the first command.
  func signalUnblockedThread(_ number: Int32) throws {
    let process = try #require(child)
    let tasks = "/proc/\(process)/task"
    func unblocked() -> Int32? {
      let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
      return threads.first { thread in
        let status = try? String(contentsOfFile: "\(tasks)/\(thread)/status", encoding: .utf8)
        return status?.contains("SigBlk:\t0000000000000000") == true
      }.flatMap { Int32($0) }
    }
    #expect(poll(for: .seconds(60), pausing: true) { unblocked() != nil })
    // A signal for a thread's id is a signal for the process that the system gives to this thread if it can.
    kill(try #require(unblocked()), number)
  }
}
