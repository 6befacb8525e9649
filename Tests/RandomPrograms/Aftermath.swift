// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Events that come somewhat later than the contents of a `Picture`: completion blocks, returning
/// threads, and the release of unused objects.
struct Aftermath: Equatable {
  var completionCounts: [Int] = []
  var returnedCounts: [Int] = []
  var isDestroyed: [Bool] = []
  /// `nil` if there is no block, or if its release is not specified.
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
