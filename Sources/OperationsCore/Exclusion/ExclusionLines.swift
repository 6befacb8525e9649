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
///   does one that is refused again.
/// - **No deadlock.** An operation with exclusions executes, and waits for no other exclusion. A
///   refused operation waits for executing operations.
/// - **No starvation.** A member that was refused as often as its patience allows is *due*. While
///   it waits for an exclusion, it reserves those of its exclusions that were created before that
///   one: later members do not get them. So each time that the member is refused again, the
///   exclusion that it lacks was created later. While it is invited, later members give way to it
///   once, for a limited time (``Answer/givesWay(nanoseconds:)``). After that it must be refused
///   some more times before it is due again, so that a member whose queue has no free slot costs
///   the others little. Each time that others have given way in vain, they give way longer.
/// - **No lasting reservation.** A reservation may keep an exclusion from an operation for which
///   the holder of the later exclusion waits in its own code. Therefore a reservation ends after a
///   limited time (``endReservation(_:)``). The next reservation of the same member lasts twice as
///   long, so that eventually it lasts longer than the operations that it waits for.
struct ExclusionLines {
  /// A number that identifies a member, in the order of the first requests. No other member gets
  /// the same number.
  typealias Number = UInt64

  /// The operations of one queue and one priority.
  struct Group: Hashable {
    let queue: UInt
    let priorityIndex: Int
  }

  enum Answer: Equatable {
    /// The member has all of its exclusions and must start.
    case granted
    /// The member has a place in a line and must not start.
    case refused
    /// The member could start, but an earlier member was refused often, was invited, and is
    /// expected to ask. The later member should ask again after this time, and then insist.
    case givesWay(nanoseconds: Int64)
  }

  struct Line {
    fileprivate(set) var holders: [Number] = []
    fileprivate(set) var waiting: [Group: WaitingMembers] = [:]
    /// Due members that wait for a later exclusion.
    fileprivate(set) var reserved: Set<Number> = []
    /// Due members that were invited and have not asked since then.
    fileprivate(set) var expected: Set<Number> = []

    fileprivate var isUnused: Bool {
      holders.isEmpty && waiting.isEmpty && reserved.isEmpty && expected.isEmpty
    }
  }

  /// The reason why a waiting member cannot get an exclusion.
  struct Obstacle: Equatable {
    let exclusion: MutualExclusion
    /// The members that hold the exclusion.
    var holders: [Number] = []
    /// The due members for which the exclusion is reserved. A reservation applies to the part of
    /// the limit that no member holds.
    var reservers: [Number] = []

    /// Whether no member can get the exclusion before a holder has finished.
    var isHeld: Bool { holders.count >= exclusion.limit }
  }

  /// A reservation, which ends after its time.
  struct Reservation: Equatable, Sendable {
    let number: Number
    /// How often the member had been refused when the reservation began. This number distinguishes
    /// the reservation from later reservations of the same member.
    let refusalCount: Int
    let nanoseconds: Int64
  }

  private var members: [Number: ExclusionMember] = [:]
  private(set) var lines: [MutualExclusion: Line] = [:]
  private var lastNumber: Number = 0

  var isEmpty: Bool { members.isEmpty && lines.isEmpty }

  // MARK: Events

  /// Adds an operation with its first request. The operation has a number from now on, but holds no
  /// exclusions.
  mutating func join(_ exclusions: Set<MutualExclusion>) -> Number {
    lastNumber += 1
    members[lastNumber] = ExclusionMember(exclusions: exclusions.sorted { $0.number < $1.number })
    return lastNumber
  }

  /// Handles the request of a member that could start.
  ///
  /// - Parameters:
  ///   - number: The member.
  ///   - group: The queue and the priority of the member.
  ///   - insists: Whether the member has given way long enough.
  /// - Returns: The answer to the request, and the members that are invited because of it.
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

  /// Removes a member that has finished.
  ///
  /// - Returns: The invited members.
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
    // Exclusions that a holder releases are offered to all groups.
    if member.standing != .holding, let group = member.group {
      passOn(member.exclusions, in: group, &invited)
    }
    return process(&invited)
  }

  /// Removes a member from its line because it is no longer ready or has another priority. The
  /// member asks again when its queue chooses it, and then gets the place of its number.
  ///
  /// - Returns: Whether the member had a place in a line, and the members that are invited because
  ///   of the change.
  mutating func standBack(_ number: Number) -> (wasWaiting: Bool, invited: [Number]) {
    guard let member = members[number], member.standing != .holding else { return (false, []) }
    var invited = Invitations()
    givePlaceUp(number, &invited)
    if let group = member.group { passOn(member.exclusions, in: group, &invited) }
    return (member.standing != .away, process(&invited))
  }

  /// Returns the reservation of a waiting member; `nil` if the member has no reservation.
  func reservation(of number: Number) -> Reservation? {
    guard let member = members[number], case .waiting = member.standing,
      member.exclusions.contains(where: { lines[$0]?.reserved.contains(number) == true })
    else { return nil }
    return Reservation(
      number: number, refusalCount: member.refusalCount,
      nanoseconds: member.reservationNanoseconds)
  }

  /// Ends a reservation after its time. Does nothing if the reservation has ended before.
  ///
  /// - Returns: The invited members.
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

  /// Returns the reason why a member cannot get the exclusion that it waits for; `nil` unless the
  /// member has a place in a line.
  ///
  /// If the result has no holders and no reservers, the exclusion is available, and another member
  /// of the group was invited first.
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

  /// Gives a member a place in the line of its exclusion at this index.
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

  /// Removes the place, the reservation and the claim of a member that does not execute.
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

  /// Handles that another member insisted although this member was expected. This member is due
  /// again only after more refusals.
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
    /// The exclusions that became available to more members.
    var freed: [MutualExclusion] = []
    var numbers: [Number] = []
  }

  /// Passes the invitation of a member on to other members of its group that wait for these
  /// exclusions.
  private mutating func passOn(
    _ exclusions: [MutualExclusion], in group: Group, _ invited: inout Invitations
  ) {
    for exclusion in exclusions { inviteFirst(of: group, to: exclusion, &invited) }
  }

  /// Invites one member of each group for the exclusions that became free, including exclusions
  /// that become free during this call.
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
    // Members that left before their turn are removed here. They may be the last members in the
    // line.
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

  /// Records that a member has left its line before its turn. Members that have left are removed
  /// from the line when they are the majority.
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
