// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import OperationsCore
import Synchronization
import TestSupport

/// A chain of operations, each of which depends on the one before and forgets it, under a limit of memory.
///
/// A process of its own, so that the memory of other tests is not in the figure.
enum EndlessChain {
  /// A program that adds faster than a queue works has to wait now and then, with a chain or without.
  private static let aheadAtMost = 1_000
  /// Includes the operations that are being released.
  private static let aliveAtMost = 4 * aheadAtMost
  /// In KiB, from when there have been so many for the first time. A link takes more than 0.1.
  private static let growthAtMost = 4 * 1_024

  /// Runs as many operations as the first argument says; prints how many of them there were at once and how
  /// much memory that took, and fails if it was more than a few.
  ///
  /// With "keep" as the second argument nothing is forgotten, which shows that it would fail.
  static func run(_ arguments: [String]) {
    guard let count = arguments.first.flatMap({ Int($0) }) else { fatalError("How many links?") }
    let forgets = arguments.dropFirst().first != "keep"

    // A limit that the kernel enforces, with room for the stacks of a few threads. Ten million links take
    // four times as much.
    var limit = rlimit(rlim_cur: 256 << 20, rlim_max: 256 << 20)
    guard setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit) == 0 else {
      fatalError("The limit of memory cannot be set: error \(errno)")
    }

    let queue = OperationQueue()
    // A chain needs no more; and how many processors there are makes no difference to the memory.
    queue.maxConcurrentOperationCount = 1
    var newest: Link?
    var memoryAtFirst = 0
    for number in 1...count {
      let next = Link()
      next.forgetsDependencies = forgets
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

/// An operation of the chain, counted.
private final class Link: Operation, @unchecked Sendable {
  static let alive = Atomic(0)
  static let mostAlive = Atomic(0)

  override init() {
    let alive = Self.alive.wrappingAdd(1, ordering: .relaxed).newValue
    Self.mostAlive.max(alive, ordering: .relaxed)
  }

  deinit { Self.alive.wrappingSubtract(1, ordering: .relaxed) }
}
