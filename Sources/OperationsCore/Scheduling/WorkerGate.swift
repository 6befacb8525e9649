// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// Counts the searching workers of one queue, so that a thread that pushes an operation requests a
/// worker only if none is searching.
///
/// A worker is *searching* from its request until it has found an operation, and again while it
/// looks for the next operation before it gives up. While one worker is searching, no other is
/// needed: it will find the pushed operation, and requests another worker if there are more
/// operations. A worker that executes an operation is not counted here. The scheduler counts the
/// slots in use.
///
/// All accesses are sequentially consistent; see ``OperationInbox``.
struct WorkerGate: ~Copyable, Sendable {
  private let searchingCount = Atomic<UInt32>(0)
  /// The maximum number of workers of the queue; 0 while no operation can be started.
  private let width = Atomic<UInt32>(0)

  /// Sets the width, which is the maximum number of workers. A thread that holds the queue's lock
  /// calls this method before it reads the inbox for the last time. So a thread that pushes an
  /// operation after that reads the new width.
  func setWidth(_ newWidth: UInt32) {
    width.store(newWidth, ordering: .sequentiallyConsistent)
  }

  /// Claims the right to request another worker, which counts as searching. Returns `false` if a
  /// worker is already searching, or if no operation can be started.
  @inline(__always)
  func claimWorker() -> Bool { admitsWorkers && claimSearch() }

  /// Whether a worker could start an operation.
  @inline(__always)
  var admitsWorkers: Bool { width.load(ordering: .sequentiallyConsistent) > 0 }

  /// Claims the right to request another worker if ``admitsWorkers`` is `true`. Returns `false` if a worker is
  /// already searching.
  @inline(__always)
  func claimSearch() -> Bool {
    searchingCount.load(ordering: .sequentiallyConsistent) == 0
      && searchingCount.compareExchange(
        expected: 0, desired: 1, ordering: .sequentiallyConsistent
      ).exchanged
  }

  func startSearching() { searchingCount.wrappingAdd(1, ordering: .sequentiallyConsistent) }

  /// Records that a searching worker has found an operation or gives up. A worker that gives up
  /// must check the inbox and the scheduler once more after this call.
  func stopSearching() { searchingCount.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
}
