// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// One operation that has requested its exclusions and has not finished.
struct ExclusionMember {
  enum Standing: Equatable {
    /// The operation does not wait for an exclusion. It requests its exclusions when its queue
    /// chooses it.
    case away
    /// The last request of the operation was refused, and it waits in the line of this exclusion.
    case waiting(MutualExclusion)
    /// The operation holds all of its exclusions and executes.
    case holding
  }

  /// The number of refusals after which an operation is preferred to later operations for the first
  /// time.
  static let firstPatience = 8
  /// The maximum number of further refusals after which an operation is preferred to later
  /// operations once more.
  static let longestPatience = 64

  /// The exclusions of the operation, in the order of their creation.
  let exclusions: [MutualExclusion]
  /// The total number of refusals after which the operation is preferred to later operations.
  private var patience = Self.firstPatience
  var refusalCount = 0
  /// The number of times that other operations waited for this operation to start, and then started
  /// before it.
  var lostClaimCount = 0
  /// The number of reservations of this operation that ended at their time limit.
  var endedReservationCount = 0
  var standing = Standing.away
  /// The queue and the priority of the operation when it last requested its exclusions.
  var group: ExclusionLines.Group?

  init(exclusions: [MutualExclusion]) { self.exclusions = exclusions }

  var isDue: Bool { refusalCount >= patience }

  /// Ends the preference of this operation over later operations. The operation is preferred again
  /// after twice as many refusals in total, or after ``longestPatience`` further refusals if this
  /// number is lower.
  mutating func losePriority() { patience += min(patience, Self.longestPatience) }

  /// How long other operations give way to this operation: from 1 ms to 50 ms.
  var wayNanoseconds: Int64 { min(50, 1 << Int64(min(lostClaimCount, 6))) * 1_000_000 }

  /// How long the next reservation of this operation lasts: from 100 ms to 51.2 s.
  ///
  /// Other operations cannot use a reserved exclusion. The limit bounds the time for which a reserved exclusion
  /// is unused. Below the limit, this time is at most about the time that the operation has already waited.
  var reservationNanoseconds: Int64 { 100_000_000 << Int64(min(endedReservationCount, 9)) }
}

/// The operations of one queue and one priority that wait for one exclusion, in a binary heap with
/// the lowest number first.
struct WaitingMembers {
  private var numbers: [ExclusionLines.Number] = []
  /// The number of operations in the heap that no longer wait.
  private var leftCount = 0

  var isEmpty: Bool { numbers.isEmpty }
  var first: ExclusionLines.Number? { numbers.first }

  mutating func insert(_ number: ExclusionLines.Number) {
    numbers.append(number)
    var index = numbers.count - 1
    while index > 0, numbers[index] < numbers[(index - 1) / 2] {
      numbers.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  mutating func removeFirst() {
    numbers.swapAt(0, numbers.count - 1)
    numbers.removeLast()
    var index = 0
    while 2 * index + 1 < numbers.count {
      var least = 2 * index + 1
      if least + 1 < numbers.count, numbers[least + 1] < numbers[least] { least += 1 }
      guard numbers[least] < numbers[index] else { return }
      numbers.swapAt(least, index)
      index = least
    }
  }

  /// Records that an operation no longer waits. Its number stays in the heap until
  /// ``removeAll(where:)`` is called.
  ///
  /// - Returns: Whether most operations in the heap no longer wait.
  mutating func noteLeft() -> Bool {
    leftCount += 1
    return 2 * leftCount > numbers.count
  }

  /// Removes the operations that no longer wait from the heap.
  mutating func removeAll(where hasLeft: (ExclusionLines.Number) -> Bool) {
    // A sorted array is a valid binary heap.
    numbers = numbers.filter { !hasLeft($0) }.sorted()
    leftCount = 0
  }
}
