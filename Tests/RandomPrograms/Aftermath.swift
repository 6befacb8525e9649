// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The results of a program that become visible somewhat later than the state in `Picture`: calls
/// of completion blocks, returns of waiting threads, and releases of unused objects.
struct Aftermath: Equatable {
  var completionCounts: [Int] = []
  var returnedCounts: [Int] = []
  var isDestroyed: [Bool] = []
  /// Whether the block of each operation was released; `nil` if the operation has no block, or if
  /// the time of the release is not specified.
  var isBlockDestroyed: [Bool?] = []
  var returnedFromQueueCounts: [Int] = []
  var isQueueDestroyed: [Bool] = []
}

extension Aftermath: Describable {
  var facts: [Fact] {
    let operation = Program.name(ofOperation:)
    let queue = Program.name(ofQueue:)
    return Fact.each(completionCounts, "runs of the completion block of", operation)
      + Fact.each(returnedCounts, "waits that have ended for", operation)
      + Fact.each(isDestroyed, "the end of", operation)
      + Fact.each(isBlockDestroyed, "the end of the block of", operation)
      + Fact.each(returnedFromQueueCounts, "waits that have ended for all in", queue)
      + Fact.each(isQueueDestroyed, "the end of", queue)
  }
}
