// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// One operation that has requested its exclusions and has not finished.
struct ExclusionMember {
  enum Standing: Equatable {
    /// The member has no place in a line. It asks when its queue chooses it.
    case away
    /// The member was refused and was not invited since then.
    case waiting(MutualExclusion)
    /// The member holds all of its exclusions and executes.
    case holding
  }

  /// The number of refusals before a member is due for the first time.
  static let firstPatience = 8
  /// The maximum number of refusals before a member is due again.
  static let longestPatience = 64

  /// The exclusions of the operation, in the order of their creation.
  let exclusions: [MutualExclusion]
  /// The total number of refusals after which the member is due.
  private var patience = Self.firstPatience
  var refusalCount = 0
  /// How often other members gave way to this member in vain, and then started before it.
  var lostClaimCount = 0
  /// The number of reservations of this member that ended because they lasted too long.
  var endedReservationCount = 0
  var standing = Standing.away
  /// The queue and the priority of the member when it last requested its exclusions.
  var group: ExclusionLines.Group?

  init(exclusions: [MutualExclusion]) { self.exclusions = exclusions }

  var isDue: Bool { refusalCount >= patience }

  /// Makes the member due only after more refusals: twice as many, up to a limit.
  mutating func losePriority() { patience += min(patience, Self.longestPatience) }

  /// How long other members give way to this member: from 1 ms to 50 ms.
  var wayNanoseconds: Int64 { min(50, 1 << Int64(min(lostClaimCount, 6))) * 1_000_000 }

  /// How long the next reservation of this member lasts: from 100 ms to about an hour.
  var reservationNanoseconds: Int64 { 100_000_000 << Int64(min(endedReservationCount, 15)) }
}

/// The members of one group that wait for one exclusion, in a binary heap with the lowest number
/// first.
struct WaitingMembers {
  private var numbers: [ExclusionLines.Number] = []
  /// The number of members that have left before their turn.
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

  /// Records that a member has left. The member stays in the heap for now.
  ///
  /// - Returns: Whether most members have left.
  mutating func noteLeft() -> Bool {
    leftCount += 1
    return 2 * leftCount > numbers.count
  }

  /// Removes the members that have left.
  mutating func removeAll(where hasLeft: (ExclusionLines.Number) -> Bool) {
    // A sorted array is a heap.
    numbers = numbers.filter { !hasLeft($0) }.sorted()
    leftCount = 0
  }
}
