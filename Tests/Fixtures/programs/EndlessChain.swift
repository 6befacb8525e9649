// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import FixtureSupport
import OperationsCore
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Runs a chain of operations with a limit of memory. Each operation depends on the previous
/// operation, and releases this dependency when it is no longer needed.
///
/// The program runs in a separate process, so that memory of other tests is not counted.
enum EndlessChain {
  /// The maximum number of operations that wait in the queue. Without this limit, the program would
  /// add operations faster than the queue executes them.
  private static let aheadAtMost = 1_000
  /// The maximum number of existing operations. It is higher than the number of waiting operations,
  /// because operations that are being released still exist.
  private static let aliveAtMost = 4 * aheadAtMost
  /// The maximum growth of memory in KiB after the first operations. If the chain retained its
  /// operations, each of them would need more than 0.1 KiB.
  private static let growthAtMost = 4 * 1_024

  /// Runs as many operations as the first argument says. Prints the maximum number of operations
  /// that existed at the same time, and their memory. Exits with 1 if one of the two is above its
  /// limit.
  ///
  /// With "keep" as the second argument, operations retain their dependencies, which shows that the
  /// check can fail.
  static func run(_ arguments: [String]) {
    guard let count = arguments.first.flatMap({ Int($0) }) else {
      fatalError("usage: endless-chain COUNT [keep]")
    }
    let forgets = arguments.dropFirst().first != "keep"

    // The kernel enforces a memory limit of 256 MiB, which is sufficient for the stacks of a few
    // threads. Ten million retained operations would need four times as much.
    var limit = rlimit(rlim_cur: 256 << 20, rlim_max: 256 << 20)
    guard setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit) == 0 else {
      fatalError("cannot set the memory limit: error \(errno)")
    }

    let queue = OperationQueue()
    // The queue has one slot. This is enough for a chain, and makes the memory use independent of
    // the number of processors.
    queue.maxConcurrentOperationCount = 1
    var newest: Link?
    var memoryAtFirst = 0
    for number in 1...count {
      let next = Link()
      next.releasesDependenciesWhenFinished = forgets
      if let newest { next.addDependency(newest) }
      queue.addOperation(next)
      newest = next
      if number.isMultiple(of: aheadAtMost) {
        next.waitUntilFinished()
        if memoryAtFirst == 0 { memoryAtFirst = ProcessStatus.amount("VmHWM") }
      }
    }
    newest?.waitUntilFinished()

    let mostAlive = Link.mostAlive.load(ordering: .relaxed)
    let growth = ProcessStatus.amount("VmHWM") - memoryAtFirst
    print("\(count) links, at most \(mostAlive) at once, \(growth) KiB more in the end")
    guard mostAlive <= aliveAtMost, growth <= growthAtMost else {
      print("That is more than \(aliveAtMost) at once, or \(growthAtMost) KiB")
      exit(1)
    }
  }
}

/// An operation of the chain. The class counts the operations that exist.
private final class Link: Operation, @unchecked Sendable {
  static let alive = Atomic(0)
  static let mostAlive = Atomic(0)

  override init() {
    let alive = Self.alive.wrappingAdd(1, ordering: .relaxed).newValue
    Self.mostAlive.max(alive, ordering: .relaxed)
  }

  deinit { Self.alive.wrappingSubtract(1, ordering: .relaxed) }
}
