// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What is done, whoever does it.
///
/// The user's own work is an empty block everywhere. Unless a case says otherwise, a sample begins
/// with nothing but an empty queue and ends with nothing but that: creating the operations, linking
/// them, adding them, running them, waiting until all have finished and freeing them is the measured
/// work. Freeing is in it because contenders that free as they go could not leave it out.
/// What decides the shape of the work (which waits for which, which priority) is drawn before.
public enum Workload: String, CaseIterable, Sendable {
  /// One thread adds empty blocks one by one to a running queue.
  case flat
  /// The same, by two threads at once to one queue, half of them each.
  case flatFrom2 = "flat-from-2"
  /// The same, by eight threads at once to one queue, an eighth of them each.
  case flatFrom8 = "flat-from-8"
  /// All operations are added by one call, which waits for them.
  case batch
  /// Blocks are added one by one to a suspended queue, which is then resumed.
  case fill
  /// As `fill`, with operations of five priorities in random order.
  case priorities
  /// As `flat`, with every thousandth block as a barrier.
  case barriers

  /// Each operation depends on the one before it. In this and the next four, each is created, linked
  /// to those before it and added to a suspended queue, which is resumed when it has them all.
  ///
  /// Dispatch has no dependencies: each block adds the next. For the flow graph an edge is a
  /// dependency, and a message to each node without one starts it.
  case chain
  /// A binary tree: each operation but the root depends on its parent, so that running it makes two
  /// others ready.
  ///
  /// Dispatch's blocks and TBB's tasks add their two children. A Swift task awaits them, too.
  case tree
  /// Layers as wide as a tenth of all, 1,000 at most; each operation depends on four of the layer
  /// before its own.
  case layers
  /// One operation depends on all others.
  case fanIn = "fan-in"
  /// All operations depend on one.
  case fanOut = "fan-out"
  /// A chain whose operations are on two queues in turns. All are linked, and then added to queues
  /// that run.
  case pingPong = "ping-pong"

  /// Operations that wait on a suspended queue are all cancelled, and the queue resumed. Measured is
  /// from before the cancelling until the queue is empty.
  case cancel
  /// As `flat`, with a key-value observation of `isFinished` on each operation. The observations end
  /// when all have finished.
  case observed
  /// As `flat`, with a task that takes the queue's state changes.
  case subscribed

  /// From before a block is added to an idle queue until it begins, 200 µs after the one before.
  case startIdle = "start-idle"
  /// From before a block is added until it begins, right after the one before has begun.
  case startBusy = "start-busy"

  /// Empty blocks, added to a suspended queue and waiting there.
  case memory
  /// The same as a chain of dependencies.
  case memoryChain = "memory-chain"

  /// Operations that sleep for a second each, on a queue of a width that is their number.
  case sleepersWide = "sleepers-wide"
  /// The same on a queue of default width.
  case sleepersDefault = "sleepers-default"

  /// What a sample says.
  public var measure: Measure {
    switch self {
    case .flat, .flatFrom2, .flatFrom8, .batch, .fill, .priorities, .barriers, .chain, .tree,
      .layers, .fanIn, .fanOut, .pingPong, .cancel, .observed, .subscribed:
      .nanosecondsPerOperation
    case .startIdle, .startBusy: .nanosecondsToStart
    case .memory, .memoryChain: .bytesPerOperation
    case .sleepersWide, .sleepersDefault: .milliseconds
    }
  }

  /// The numbers of operations to do it with.
  public var sizes: [Int] {
    switch self {
    case .flat, .flatFrom2, .flatFrom8, .batch, .fill, .priorities, .barriers, .chain, .tree,
      .layers, .pingPong, .observed, .subscribed:
      [1_000, 10_000, 100_000, 1_000_000]
    case .fanIn, .fanOut, .cancel: [1_000, 10_000, 100_000]
    case .startIdle, .startBusy: [1_000]
    case .memory: [1_000_000]
    case .memoryChain: [10_000, 1_000_000]
    case .sleepersWide: [100, 1_000]
    case .sleepersDefault: [100]
    }
  }

  /// Which operations wait for which, in the workloads that are about that.
  ///
  /// - Parameter size: The number of operations; where one is the counterpart of all others, it is
  ///   not counted.
  /// - Returns: Nothing linked for other workloads.
  public func links(_ size: Int) -> Links {
    switch self {
    case .chain, .pingPong, .memoryChain: .chain(size)
    case .tree: .tree(size)
    case .layers: .layers(size)
    case .fanIn: .fanIn(size)
    case .fanOut: .fanOut(size)
    case .flat, .flatFrom2, .flatFrom8, .batch, .fill, .priorities, .barriers, .cancel, .observed,
      .subscribed, .startIdle, .startBusy, .memory, .sleepersWide, .sleepersDefault:
      Links(count: size, edges: [])
    }
  }
}
