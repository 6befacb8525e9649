// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The values of the operation's properties that were set, without the overrides of a subclass. The
/// library itself uses these values.
extension Operation {
  final var givenName: String? { withRare { $0?.name } }

  final var givenKind: String? { withRare { $0?.kind } }

  package final var givenQualityOfService: QualityOfService {
    withRare { $0?.qualityOfService ?? .default }
  }

  static let defaultThreadPriority = 0.5

  final var givenThreadPriority: Double {
    withRare { $0?.threadPriority ?? Self.defaultThreadPriority }
  }

  final func giveThreadPriority(_ new: Double) {
    let priority = new.isNaN ? Self.defaultThreadPriority : min(max(new, 0.0), 1.0)
    makeRare { $0.threadPriority = priority }
  }

  // MARK: Completion block

  final func giveCompletionBlock(_ block: (@Sendable () -> Void)?) {
    if block == nil, withRare({ $0?.completionBlock == nil }) { return }
    var isInTime = !status.load(ordering: .acquiring).isFinished
    if isInTime {
      announce("completionBlock") {
        isInTime = setCompletionBlock(block)
        return isInTime
      }
    }
    if !isInTime, block != nil { noteLateCompletionBlock() }
  }

  // MARK: Priority

  /// The priority by which the queue orders the operation: the priority that was set, or the value
  /// of an override. A task that waits for the operation may have raised its place further.
  final var priority: QueuePriority {
    priorityBeforeEscalation
      ?? QueuePriority(index: status.load(ordering: .acquiring).priorityIndex)
  }

  /// The priority that was set. It differs from ``priority`` only if the subclass overrides it.
  final var givenPriority: QueuePriority {
    if isExactlyBlockOperation { return priority }
    return (rare == nil ? nil : withRare { $0?.overruledPriority }) ?? priority
  }

  final func givePriority(_ new: QueuePriority) {
    if isExactlyBlockOperation { return setPriority(new) }
    if keepOverruledPriority(new) { return }
    setPriority(new)
    // While this thread stored the priority, another thread may have begun to use the value of the
    // override. That thread may have stored the previous priority as the one that the program has
    // set, so this thread stores the new one again.
    keepOverruledPriority(new)
  }

  /// Stores the priority that was set, if an override determines the operation's place in its
  /// queue.
  ///
  /// - Returns: Whether an override determines the operation's place.
  @discardableResult
  private final func keepOverruledPriority(_ new: QueuePriority) -> Bool {
    guard rare != nil else { return false }
    return withRare { rare in
      guard let rare, rare.overruledPriority != nil else { return false }
      rare.overruledPriority = new
      return true
    }
  }

  // MARK: Overridden priority

  /// Reads the overridable `queuePriority` on this thread, and moves the operation to the place for
  /// this value if the value differs from the operation's priority.
  ///
  /// Only one thread at a time uses the values that it reads. If another thread calls this method
  /// during that time, the first thread reads the property once more. So the value that is used is
  /// never older than the last announcement.
  final func readPriorityAgain() {
    // The memory fence pairs with the fence in `beginReadingPriority`. Either a thread that is
    // about to read the overridden priority sees the announced change, or this thread sees that the
    // other thread is reading.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    if leavesPriorityToReader() || queuePriority == priority || !beginReadingPriority() { return }
    repeat { adopt(queuePriority) } while !endReadingPriority()
  }

  private final func leavesPriorityToReader() -> Bool {
    guard rare != nil else { return false }
    return withRare { rare in
      guard let rare, rare.readsPriority else { return false }
      rare.readsPriorityAgain = true
      return true
    }
  }

  private final func beginReadingPriority() -> Bool {
    let isFirst = makeRare { rare in
      defer { rare.readsPriority = true }
      rare.readsPriorityAgain = rare.readsPriority
      return !rare.readsPriority
    }
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    return isFirst
  }

  private final func endReadingPriority() -> Bool {
    withRare { rare in
      guard let rare, rare.readsPriorityAgain else {
        rare?.readsPriority = false
        return true
      }
      rare.readsPriorityAgain = false
      return false
    }
  }

  private final func adopt(_ answer: QueuePriority) {
    if answer == priority { return }
    makeRare { rare in if rare.overruledPriority == nil { rare.overruledPriority = priority } }
    setPriority(answer)
    noteDescriptionChanged()
  }
}
