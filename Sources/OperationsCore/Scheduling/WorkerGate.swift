// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// Counts the workers of one queue, so that a push wakes one exactly where one is missing.
///
/// A worker is *searching* from the moment it is asked for until it has found an operation, and
/// again while it looks for the next before it gives up. While one searches, nobody has to be
/// woken: it will find what was pushed, and asks for another if there is more.
///
/// All orderings are sequentially consistent; ``OperationInbox`` says why.
struct WorkerGate: ~Copyable, Sendable {
  /// Bits 0–31: workers, searching or not. Bits 32–63: those that search.
  private let counts = Atomic<UInt64>(0)
  /// The most workers that could find something to do at present; 0 while nothing can be started.
  private let width = Atomic<UInt32>(0)

  private static let oneActive: UInt64 = 1
  private static let oneSearching: UInt64 = 1 << 32

  /// Sets the width. Before the inbox is read for the last time under the queue's lock: whoever
  /// pushes after that sees it.
  func setWidth(_ newWidth: UInt32) {
    width.store(newWidth, ordering: .sequentiallyConsistent)
  }

  /// Claims the right to bring in one more worker, which searches. `false` where none is missing.
  @inline(__always)
  func admit() -> Bool {
    let limit = UInt64(width.load(ordering: .sequentiallyConsistent))
    var old = counts.load(ordering: .sequentiallyConsistent)
    while old >> 32 == 0, old & 0xffff_ffff < limit {
      let (exchanged, original) = counts.weakCompareExchange(
        expected: old, desired: old + Self.oneActive + Self.oneSearching,
        ordering: .sequentiallyConsistent)
      if exchanged { return true }
      old = original
    }
    return false
  }

  func startSearching() { counts.wrappingAdd(Self.oneSearching, ordering: .sequentiallyConsistent) }

  func stopSearching() {
    counts.wrappingSubtract(Self.oneSearching, ordering: .sequentiallyConsistent)
  }

  /// A searching worker gives up. It has to look once more at inbox and scheduler after this.
  func leaveSearching() {
    counts.wrappingSubtract(
      Self.oneActive + Self.oneSearching, ordering: .sequentiallyConsistent)
  }

  /// A worker leaves that was not searching.
  func leave() { counts.wrappingSubtract(Self.oneActive, ordering: .sequentiallyConsistent) }
}
