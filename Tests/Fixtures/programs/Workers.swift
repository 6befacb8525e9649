// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import FixtureSupport
import OperationsCore
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests of worker threads that run in a separate process, in which the thread pool has not been
/// used.
enum Workers {
  /// Runs the test whose name is the first argument. "crash" reads a bad address in an operation,
  /// and "crash-main" reads it on the main thread. "width" prints how many processor-bound
  /// operations of a queue of default width have executed at the same time, and "blocked" prints
  /// the same for sleeping operations of a queue of width 20. "fork" with a second argument prints
  /// how a child process has ended (``ForkedChild``).
  static func run(_ arguments: [String]) {
    switch arguments.first {
    case "crash":
      OperationQueue().addOperations(
        [BlockOperation { print(readBadAddress()) }], waitUntilFinished: true)
    case "crash-main": print(readBadAddress())
    case "width":
      let most = mostAtTheSameTime { useProcessor(for: .milliseconds(2)) }
      print("\(most) at the same time")
    case "blocked":
      print("\(mostAtTheSameTime(width: 20) { usleep(100_000) }) at the same time")
    case "fork":
      let ending =
        switch arguments.dropFirst().first ?? "" {
        case "byHand": ForkedChild.startByHand()
        case "byHandOnThread": ForkedChild.startOnThread()
        case "useLockedState": ForkedChild.useLockedState()
        case "useBriefLock": ForkedChild.useBriefLock()
        case "early": ForkedChild.useEarly()
        case "returnFromOperation": ForkedChild.returnFromOperation()
        case "returnOnDispatch":
          ForkedChild.returnFromOperation(in: DispatchQueue(label: "fork"))
        case let use: ForkedChild.use(use)
        }
      let isTrap = ending & 0x7F == SIGILL || ending & 0x7F == SIGTRAP
      print(
        "the child "
          + (ending == 0 ? "succeeded" : isTrap ? "was ended by a trap" : "ended with \(ending)"))
    default: fatalError("usage: workers crash|crash-main|width|blocked|fork USE")
    }
  }

  /// Reads an address that is not mapped.
  @inline(never)
  private static func readBadAddress() -> UInt8 {
    UnsafePointer<UInt8>(bitPattern: 8).map { $0.pointee } ?? 0
  }

  /// Runs 40 operations in a queue, and returns the maximum number that executed at the same time.
  private static func mostAtTheSameTime(width: Int = -1, _ work: @escaping @Sendable () -> Void)
    -> Int
  {
    let count = Atomic(0)
    let most = Atomic(0)
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = width
    for _ in 0..<40 {
      queue.addOperation {
        let current = count.wrappingAdd(1, ordering: .relaxed).newValue
        most.max(current, ordering: .relaxed)
        work()
        count.wrappingSubtract(1, ordering: .relaxed)
      }
    }
    queue.waitUntilAllOperationsAreFinished()
    return most.load(ordering: .relaxed)
  }
}
