// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension Shape {
  /// All tested ways of writing a subclass, in the order of the table in the documentation.
  static let all: [Shape] =
    [
      plain, blockSubclass, onMainQueue, lateFinish, superFirst, superLast, ownCancelFlag, ownFlags,
      selfEnqueueing, conditional, provided, dependentInInit, keyedState, stateMachine,
      queueGuarded, keyPath, lockedAnnouncement, asyncBlock, task, mainQueue, timeLimited,
      semaphore, children, waitingParent, queueOwning, producing, retried,
      chainedCompletion, exclusive, observed, overriding, ownNames,
    ] + onlyHere

  #if CORPUS_FOUNDATION
    private static let onlyHere: [Shape] = []
  #else
    private static let onlyHere: [Shape] = [affectingState]
  #endif
}
