// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import OperationsCore
import Synchronization
import TestSupport

// Runs a chain of as many operations as the first argument says, each of which depends on the one
// before and forgets it, under a limit of memory; says how many of them there were at once and how
// much memory that took, and fails where it was more than a few. A process of its own, so that the
// memory of other tests is not in the figure. With "keep" as the second argument nothing is forgotten,
// which shows that it would fail.

/// An operation of the chain, counted.
final class Link: Operation, @unchecked Sendable {
  static let alive = Atomic(0)
  static let mostAlive = Atomic(0)

  override init() {
    let alive = Self.alive.wrappingAdd(1, ordering: .relaxed).newValue
    Self.mostAlive.max(alive, ordering: .relaxed)
  }

  deinit { Self.alive.wrappingSubtract(1, ordering: .relaxed) }
}

let arguments = CommandLine.arguments
guard arguments.count > 1, let count = Int(arguments[1]) else { fatalError("How many links?") }
let forgets = arguments.dropFirst(2).first != "keep"

/// Whoever adds faster than a queue works has to wait now and then, be it a chain or not.
let aheadAtMost = 1_000
/// Beside those the operations that are just being released.
let aliveAtMost = 4 * aheadAtMost
/// In KiB, from when there have been so many for the first time. A link takes more than 0.1.
let growthAtMost = 4 * 1_024

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
