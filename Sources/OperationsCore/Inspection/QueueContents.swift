// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What a queue holds, as it was at one moment.
struct QueueContents {
  /// One operation or barrier.
  struct Entry {
    let operation: Operation
    let state: OperationState
    let isBarrier: Bool
    let isCancelled: Bool
    /// How many barriers that have not finished it has to wait for. 0 for a barrier itself.
    let barriersAhead: Int
    /// Known while somebody records.
    var added: Int64?
    var becameReady: Int64?
    var started: Int64?
  }

  /// In the order of addition.
  var entries: [Entry] = []
  /// What is ready, in the order in which it would be started.
  var readyOrder: [UnsafeMutableRawPointer] = []
}
