// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A task that every compared library can run.
///
/// The work of each operation is an empty block, unless a case states otherwise. A sample begins
/// and ends with an empty queue, unless a case states otherwise. The measured time includes
/// creating the operations, adding their dependencies, adding them to the queue, running them,
/// waiting until all have finished, and freeing them. Freeing is included because some of these
/// libraries free operations while they run, and cannot exclude it. The dependencies and the
/// priorities are drawn before the measurement.
public enum Workload: String, CaseIterable, Sendable {
  /// One thread adds empty blocks one by one to a running queue.
  case flat
  /// The same as the workload `flat`, but two threads add blocks to one queue at the same time.
  /// Each thread adds half of the blocks.
  case flatFrom2 = "flat-from-2"
  /// The same as the workload `flat`, but eight threads add blocks to one queue at the same time.
  /// Each thread adds an eighth of the blocks.
  case flatFrom8 = "flat-from-8"
  /// One call adds all operations and waits for them.
  case batch
  /// Blocks are added one by one to a suspended queue, which is then resumed.
  case fill
  /// The same as the workload `fill`, but the operations have five priorities in random order.
  case priorities
  /// The same as the workload `flat`, but every thousandth block is a barrier.
  case barriers

  /// Each operation depends on the previous one. In the workloads `chain`, `tree`, `layers`,
  /// `random`, `fanIn`, `fanOut`, and those of workflows, each operation is created, linked to
  /// earlier operations and added to a suspended queue. The queue is resumed when it contains all of them.
  ///
  /// Dispatch has no dependencies: each block adds the next one. In the flow graph an edge is a
  /// dependency, and a message to each node without a dependency starts the graph.
  case chain
  /// A binary tree. Each operation except the root depends on its parent, so each parent makes two
  /// operations ready when it finishes.
  ///
  /// The blocks of Dispatch and the tasks of TBB add their two children. A Swift task also awaits
  /// its children.
  case tree
  /// Layers of a tenth of all operations, at most 1,000. Each operation depends on four operations
  /// of the previous layer.
  case layers
  /// A random graph. Each operation depends on four random operations among the 1,000 operations before it.
  case random
  /// One operation depends on all other operations.
  case fanIn = "fan-in"
  /// All other operations depend on one operation.
  case fanOut = "fan-out"
  /// A Montage workflow: images of the sky are combined into one; see ``Workflow/montage(_:)``.
  case montage
  /// An Epigenomics workflow: pieces of DNA are mapped to their places in a genome; see
  /// ``Workflow/epigenomics(_:)``.
  case epigenomics
  /// A BLAST workflow: a parallel search in a data base; see ``Workflow/blast(_:)``.
  case blast
  /// A 1000Genome workflow: mutations are compared; see ``Workflow/thousandGenomes(_:)``.
  case thousandGenomes = "1000genome"
  /// A chain whose operations alternate between two queues. All operations are linked first, and
  /// then added to queues that are not suspended.
  case pingPong = "ping-pong"

  /// All operations of a suspended queue are cancelled, and the queue is resumed. The time from
  /// before the cancellation until the queue is empty is measured.
  case cancel
  /// The same as the workload `flat`, but each operation has a key-value observation of
  /// `isFinished`. The observations end when all operations have finished.
  case observed
  /// The same as the workload `flat`, but a task reads the queue's state changes.
  case subscribed

  /// The time from before a block is added to an idle queue until it begins. Each block is added
  /// 200 µs after the previous one has begun.
  case startIdle = "start-idle"
  /// The time from before a block is added until it begins. Each block is added as soon as the
  /// previous one has begun.
  case startBusy = "start-busy"

  /// Empty blocks wait in a suspended queue, and the memory that they need is measured.
  case memory
  /// The same as the workload `memory`, but each operation depends on the previous one.
  case memoryChain = "memory-chain"

  /// Each operation sleeps for one second. The width of the queue is the number of operations.
  case sleepersWide = "sleepers-wide"
  /// The same as the workload `sleepersWide`, but the queue has the default width.
  case sleepersDefault = "sleepers-default"

  /// The quantity that a sample measures.
  public var measure: Measure {
    switch self {
    case .flat, .flatFrom2, .flatFrom8, .batch, .fill, .priorities, .barriers, .chain, .tree,
      .layers, .random, .fanIn, .fanOut, .montage, .epigenomics, .blast, .thousandGenomes,
      .pingPong, .cancel, .observed, .subscribed:
      .nanosecondsPerOperation
    case .startIdle, .startBusy: .nanosecondsToStart
    case .memory, .memoryChain: .bytesPerOperation
    case .sleepersWide, .sleepersDefault: .milliseconds
    }
  }

  /// The numbers of operations to run the workload with.
  public var sizes: [Int] {
    switch self {
    case .flat, .flatFrom2, .flatFrom8, .batch, .fill, .priorities, .barriers, .chain, .tree,
      .layers, .random, .fanIn, .fanOut, .montage, .epigenomics, .blast, .thousandGenomes,
      .pingPong, .observed, .subscribed:
      [1_000, 10_000, 100_000, 1_000_000]
    case .cancel: [1_000, 10_000, 100_000]
    case .startIdle, .startBusy: [1_000]
    case .memory: [1_000_000]
    case .memoryChain: [10_000, 1_000_000]
    case .sleepersWide: [100, 1_000]
    case .sleepersDefault: [100]
    }
  }

  /// Returns the dependencies of the workload's operations.
  ///
  /// - Parameter size: The number of operations. If one operation is linked to all others, it is
  ///   not counted. A workflow may have a few operations less.
  /// - Returns: The dependencies; empty if the workload has no dependencies.
  public func links(_ size: Int) -> Links {
    switch self {
    case .chain, .pingPong, .memoryChain: .chain(size)
    case .tree: .tree(size)
    case .layers: .layers(size)
    case .random: .random(size, dependencies: 4)
    case .fanIn: .fanIn(size)
    case .fanOut: .fanOut(size)
    case .montage: Workflow.montage(size).links
    case .epigenomics: Workflow.epigenomics(size).links
    case .blast: Workflow.blast(size).links
    case .thousandGenomes: Workflow.thousandGenomes(size).links
    case .flat, .flatFrom2, .flatFrom8, .batch, .fill, .priorities, .barriers, .cancel, .observed,
      .subscribed, .startIdle, .startBusy, .memory, .sleepersWide, .sleepersDefault:
      Links(count: size, edges: [])
    }
  }
}
