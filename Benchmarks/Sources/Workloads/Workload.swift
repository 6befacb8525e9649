// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What is done, whoever does it.
///
/// The user's own work is an empty block everywhere. Unless a case says otherwise, a sample begins
/// with nothing but an empty queue and ends with nothing but that: creating the operations, linking
/// them, adding them, running them, waiting until all have finished and freeing them all is the
/// measured work. Freeing is in it because contenders that free as they go could not leave it out.
/// What decides the shape of the work (random edges, priorities) is drawn before.
public enum Workload: String, CaseIterable, Sendable {
  /// One thread adds empty blocks one by one to a running queue.
  case flat
  /// Each operation depends on the one before it. All are linked before the first is added.
  ///
  /// Dispatch has no dependencies: each block adds the next. For the flow graph, an edge is a
  /// dependency, and a message to the first node starts it.
  case chain
  /// A binary tree: each operation but the root depends on its parent, so that running it makes two
  /// others ready. All are linked before the first is added.
  ///
  /// Dispatch's blocks and TBB's tasks add their two children.
  case tree

  /// What a sample says.
  public var measure: Measure {
    switch self {
    case .flat, .chain, .tree: .nanosecondsPerOperation
    }
  }

  /// The numbers of operations to do it with.
  public var sizes: [Int] {
    switch self {
    case .flat, .chain, .tree: [1_000, 10_000, 100_000, 1_000_000]
    }
  }
}
