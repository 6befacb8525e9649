// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What comes a little later than what a `Picture` shows: completion blocks, threads that wait, and
/// the end of what nobody needs any more.
struct Aftermath: Equatable {
  var completionCounts: [Int] = []
  var returnedCounts: [Int] = []
  var isDestroyed: [Bool] = []
  /// `nil` where there is no block, or it is left open.
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
