// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A library that runs the workloads.
public enum Contender: String, CaseIterable, Sendable {
  /// This package's `OperationQueue`.
  case operations
  /// Foundation's `OperationQueue`.
  case foundation
  /// `DispatchQueue`: a concurrent queue, and a group to wait for.
  case dispatch
  /// `withTaskGroup`, on the pool of Swift's concurrency runtime.
  case taskGroup = "task-group"
  /// oneTBB's `task_group`.
  case tbbTaskGroup = "tbb-task-group"
  /// oneTBB's flow graph: one `continue_node` for each operation.
  case tbbFlowGraph = "tbb-flow-graph"
}
