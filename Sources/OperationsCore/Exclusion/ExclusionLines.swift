// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The operations that hold exclusions, and the operations that wait for an exclusion.
///
/// A pure value. A *member* is an operation that has requested its exclusions and has not finished.
/// A member requests its exclusions on the thread that is about to start it, when it is ready and
/// has a slot. It gets all of its exclusions at once, or none of them. If it is refused, it returns
/// its slot and waits in the line of the first exclusion that it cannot get. When that exclusion is
/// free again, the member is *invited*: its queue chooses it again, and it requests the exclusions
/// again.
///
/// - **No exclusion is held by an operation that cannot start.** Only a member that starts gets
///   exclusions. When an exclusion becomes free, one waiting member of each *group* is invited. A
///   group is one queue and one priority, whose members can all start if one of them can. An
///   invited member that stops being ready passes its invitation on (``standBack(_:)``), and so
///   does an invited member that is refused again.
/// - **No deadlock.** An operation that holds exclusions executes, and waits for no other
///   exclusion. A refused operation waits only for executing operations.
/// - **No starvation.** A member that was refused as often as its patience allows is *due*. While
///   it waits for an exclusion, it reserves those of its exclusions that were created before that
///   exclusion: later members do not get them. So each time that the member is refused again, the
///   exclusion that it lacks was created later. While it is invited, later members give way to it
///   once, for a limited time (``Answer/givesWay(nanoseconds:)``). After that it must be refused
///   some more times before it is due again, so that a member whose queue has no free slot costs
///   the other members little. Each time that the other members have given way in vain, they give
///   way longer.
/// - **No lasting reservation.** A reservation may cause a wait that never ends: the holder of the
///   exclusion that the member lacks may wait, in its own code, for an operation that needs a
///   reserved exclusion. Therefore a reservation ends after a limited time
///   (``endReservation(_:)``). The next reservation of the same member lasts twice as long, at most
///   51.2 s, so that eventually it lasts longer than the operations that it waits for. If these
///   operations last longer than 51.2 s, later members may get the exclusion first each time.
struct ExclusionLines {
  /// A number that identifies an operation, in the order of the first requests. No other operation
  /// gets the same number.
  typealias Number = UInt64

  /// Identifies the operations of one queue that have one priority.
  struct Group: Hashable {
    let queue: UInt
    let priorityIndex: Int
  }

  enum Answer: Equatable {
    /// The operation has all of its exclusions and must start.
    case granted
    /// The operation waits in the line of an exclusion, and must not start.
    case refused
    /// The operation could start, but an earlier operation that was refused often is expected to
    /// request its exclusions soon. The later operation waits for this time, and then requests its
    /// exclusions again. At that second request it no longer gives way.
    case givesWay(nanoseconds: Int64)
  }

  struct Line {
    fileprivate(set) var holders: [Number] = []
    fileprivate(set) var waiting: [Group: WaitingMembers] = [:]
    /// The operations for which the exclusion is reserved. They were refused often, and wait for an
    /// exclusion that was created later.
    fileprivate(set) var reserved: Set<Number> = []
    /// The operations that were refused often, were invited to repeat their requests, and have not
    /// done so yet. Later operations give way to them.
    fileprivate(set) var expected: Set<Number> = []

    fileprivate var isUnused: Bool {
      holders.isEmpty && waiting.isEmpty && reserved.isEmpty && expected.isEmpty
    }
  }

  /// The reason why a waiting operation cannot get an exclusion.
  struct Obstacle: Equatable {
    let exclusion: MutualExclusion
    /// The operations that hold the exclusion.
    var holders: [Number] = []
    /// The operations for which the exclusion is reserved. Reservations apply to the free places of
    /// the exclusion: its limit minus the number of holders.
    var reservers: [Number] = []

    /// Whether no operation can get the exclusion before a holder has finished.
    var isHeld: Bool { holders.count >= exclusion.limit }
  }

  /// A reservation of exclusions for a waiting operation. It ends after a limited time.
  struct Reservation: Equatable, Sendable {
    let number: Number
    /// How often the operation had been refused when the reservation began. This number
    /// distinguishes the reservation from later reservations of the same operation.
    let refusalCount: Int
    let nanoseconds: Int64
  }

  private(set) var members: [Number: ExclusionMember] = [:]
  private(set) var lines: [MutualExclusion: Line] = [:]
  private var lastNumber: Number = 0

  // MARK: Events

  /// Adds an operation that requests exclusions for the first time, and returns its number. The
  /// operation holds no exclusions yet.
  mutating func join(_ exclusions: Set<MutualExclusion>) -> Number {
    lastNumber += 1
    members[lastNumber] = ExclusionMember(exclusions: exclusions.sorted { $0.number < $1.number })
    return lastNumber
  }

  /// Handles the request of an operation that could start.
  ///
  /// - Parameters:
  ///   - number: The number of the operation.
  ///   - group: The queue and the priority of the operation.
  ///   - insists: Whether the operation has given way long enough, and gives way no longer.
  /// - Returns: The answer to the request, and the numbers of the operations that are invited to
  ///   repeat their requests because of it.
  mutating func ask(
    _ number: Number, in group: Group, insists: Bool = false
  ) -> (answer: Answer, invited: [Number]) {
    guard let exclusions = members[number]?.exclusions else { return (.granted, []) }
    if members[number]?.standing == .holding { return (.granted, []) }
    var invited = Invitations()
    givePlaceUp(number, &invited)
    members[number]?.group = group
    let missing = exclusions.firstIndex { !isAvailable($0, for: number) }
    let answer: Answer
    if let missing {
      wait(number, for: missing)
      answer = .refused
    } else {
      let overtaken = Set(exclusions.flatMap { lines[$0]?.expected.filter { $0 < number } ?? [] })
      if !insists, let time = overtaken.compactMap({ members[$0]?.wayNanoseconds }).max() {
        return (.givesWay(nanoseconds: time), process(&invited))
      }
      for other in overtaken { loseClaim(other) }
      for exclusion in exclusions { lines[exclusion, default: Line()].holders.append(number) }
      members[number]?.standing = .holding
      answer = .granted
    }
    passOn(exclusions, in: group, &invited)
    return (answer, process(&invited))
  }

  /// Removes an operation that has finished.
  ///
  /// - Returns: The numbers of the operations that are invited to repeat their requests.
  mutating func leave(_ number: Number) -> [Number] {
    guard let member = members[number] else { return [] }
    var invited = Invitations()
    givePlaceUp(number, &invited)
    members[number] = nil
    for exclusion in member.exclusions {
      if member.standing == .holding {
        lines[exclusion]?.holders.removeAll { $0 == number }
        invited.freed.append(exclusion)
      }
      dropIfUnused(exclusion)
    }
    // If the finished operation has held exclusions, the array `freed` contains them, and they are
    // offered to all groups. If the operation was only invited to request its exclusions, another
    // operation of its group is invited instead.
    if member.standing != .holding, let group = member.group {
      passOn(member.exclusions, in: group, &invited)
    }
    return process(&invited)
  }

  /// Removes an operation from the line that it waits in, because it is no longer ready or has
  /// another priority. The operation requests its exclusions again when its queue chooses it. If it
  /// must wait again, its number determines its place in the line, as before.
  ///
  /// - Returns: Whether the operation waited for an exclusion, and the numbers of the operations
  ///   that are invited to repeat their requests.
  mutating func standBack(_ number: Number) -> (wasWaiting: Bool, invited: [Number]) {
    guard let member = members[number], member.standing != .holding else { return (false, []) }
    var invited = Invitations()
    givePlaceUp(number, &invited)
    if let group = member.group { passOn(member.exclusions, in: group, &invited) }
    return (member.standing != .away, process(&invited))
  }

  /// Returns the reservation of exclusions for a waiting operation; `nil` if the operation has no
  /// reservation.
  func reservation(of number: Number) -> Reservation? {
    guard let member = members[number], case .waiting = member.standing,
      member.exclusions.contains(where: { lines[$0]?.reserved.contains(number) == true })
    else { return nil }
    return Reservation(
      number: number, refusalCount: member.refusalCount,
      nanoseconds: member.reservationNanoseconds)
  }

  /// Ends a reservation whose time is over. Does nothing if the reservation has already ended.
  ///
  /// - Returns: The numbers of the operations that are invited to repeat their requests.
  mutating func endReservation(_ reservation: Reservation) -> [Number] {
    let number = reservation.number
    guard self.reservation(of: number) == reservation, let member = members[number] else {
      return []
    }
    var invited = Invitations()
    members[number]?.losePriority()
    members[number]?.endedReservationCount += 1
    for exclusion in member.exclusions where lines[exclusion]?.reserved.remove(number) != nil {
      invited.freed.append(exclusion)
    }
    return process(&invited)
  }

  /// Returns the reason why an operation cannot get the exclusion that it waits for; `nil` if the
  /// operation does not wait in a line.
  ///
  /// If the result has no holders and no reservers, the exclusion is available, and another
  /// operation of the same group was invited before this operation.
  func obstacle(of number: Number) -> Obstacle? {
    guard case .waiting(let exclusion) = members[number]?.standing else { return nil }
    let line = lines[exclusion] ?? Line()
    let all = Obstacle(exclusion: exclusion, holders: line.holders)
    if all.isHeld { return all }
    let reservers = line.reserved.filter { $0 < number }.sorted()
    return isAvailable(exclusion, for: number)
      ? Obstacle(exclusion: exclusion)
      : Obstacle(exclusion: exclusion, holders: line.holders, reservers: reservers)
  }

  // MARK: Places

  private func isAvailable(_ exclusion: MutualExclusion, for number: Number) -> Bool {
    guard let line = lines[exclusion] else { return true }
    return line.holders.count + line.reserved.count { $0 < number } < exclusion.limit
  }

  /// Makes an operation wait in the line of one of its exclusions. `index` is the index of this
  /// exclusion in the operation's sorted exclusions.
  private mutating func wait(_ number: Number, for index: Int) {
    members[number]?.refusalCount += 1
    guard let member = members[number], let group = member.group else { return }
    let exclusion = member.exclusions[index]
    members[number]?.standing = .waiting(exclusion)
    lines[exclusion, default: Line()].waiting[group, default: WaitingMembers()].insert(number)
    guard member.isDue else { return }
    for earlier in member.exclusions[..<index] {
      lines[earlier, default: Line()].reserved.insert(number)
    }
  }

  /// Removes an operation that does not execute from the line that it waits in, and ends its
  /// reservation. Later operations no longer give way to it.
  private mutating func givePlaceUp(_ number: Number, _ invited: inout Invitations) {
    guard let member = members[number], member.standing != .holding else { return }
    members[number]?.standing = .away
    if case .waiting(let exclusion) = member.standing, let group = member.group {
      forget(number, in: group, of: exclusion)
    }
    for exclusion in member.exclusions {
      if lines[exclusion]?.reserved.remove(number) != nil { invited.freed.append(exclusion) }
      lines[exclusion]?.expected.remove(number)
      dropIfUnused(exclusion)
    }
  }

  /// Handles the case that this operation was expected to request its exclusions, but a later
  /// operation starts instead. Later operations give way to this operation again only after it was
  /// refused more often.
  private mutating func loseClaim(_ number: Number) {
    guard let exclusions = members[number]?.exclusions else { return }
    members[number]?.losePriority()
    members[number]?.lostClaimCount += 1
    for exclusion in exclusions { lines[exclusion]?.expected.remove(number) }
  }

  private mutating func dropIfUnused(_ exclusion: MutualExclusion) {
    if lines[exclusion]?.isUnused == true { lines[exclusion] = nil }
  }

  // MARK: Invitations

  private struct Invitations {
    /// The exclusions that became available, and must be offered to waiting operations.
    var freed: [MutualExclusion] = []
    var numbers: [Number] = []
  }

  /// Invites another operation of a group for each of these exclusions: makes its queue choose it,
  /// so that it requests its exclusions again. Called if an operation of the group was invited and
  /// did not start.
  private mutating func passOn(
    _ exclusions: [MutualExclusion], in group: Group, _ invited: inout Invitations
  ) {
    for exclusion in exclusions { inviteFirst(of: group, to: exclusion, &invited) }
  }

  /// For each exclusion that became free, and for each group, invites one waiting operation to
  /// request its exclusions again. This includes exclusions that become free during this call.
  private mutating func process(_ invited: inout Invitations) -> [Number] {
    while let exclusion = invited.freed.popLast() {
      for group in lines[exclusion].map({ Array($0.waiting.keys) }) ?? [] {
        inviteFirst(of: group, to: exclusion, &invited)
      }
      dropIfUnused(exclusion)
    }
    return invited.numbers
  }

  private mutating func inviteFirst(
    of group: Group, to exclusion: MutualExclusion, _ invited: inout Invitations
  ) {
    // The `while` loop removes the numbers of operations that no longer wait in this line. The line
    // may be empty after the loop.
    defer { dropIfUnused(exclusion) }
    while let number = lines[exclusion]?.waiting[group]?.first {
      let isWaiting = members[number].map {
        $0.group == group && $0.standing == .waiting(exclusion)
      }
      guard isWaiting == true else {
        removeFirst(of: group, of: exclusion)
        continue
      }
      guard isAvailable(exclusion, for: number) else { return }
      removeFirst(of: group, of: exclusion)
      members[number]?.standing = .away
      givePlaceUp(number, &invited)
      if let member = members[number], member.isDue {
        for wanted in member.exclusions { lines[wanted, default: Line()].expected.insert(number) }
      }
      invited.numbers.append(number)
      return
    }
  }

  private mutating func removeFirst(of group: Group, of exclusion: MutualExclusion) {
    lines[exclusion]?.waiting[group]?.removeFirst()
    if lines[exclusion]?.waiting[group]?.isEmpty == true { lines[exclusion]?.waiting[group] = nil }
  }

  /// Records that an operation has left the line of its exclusion, although it was not invited to
  /// request the exclusion again. The line still contains the numbers of such operations. They are
  /// removed when they are the majority.
  private mutating func forget(
    _ number: Number, in group: Group, of exclusion: MutualExclusion
  ) {
    guard lines[exclusion]?.waiting[group]?.noteLeft() == true else { return }
    lines[exclusion]?.waiting[group]?.removeAll { other in
      members[other].map { $0.group != group || $0.standing != .waiting(exclusion) } ?? true
    }
    if lines[exclusion]?.waiting[group]?.isEmpty == true { lines[exclusion]?.waiting[group] = nil }
  }
}
