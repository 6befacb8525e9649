// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCore
import TestSupport
import Testing

@Suite("Lines for exclusions, step by step")
struct ExclusionLinesTests {
  private let one = MutualExclusion(name: "one")
  private let two = MutualExclusion(name: "two")
  private let pair = MutualExclusion(name: "pair", limit: 2)
  private let queue = ExclusionLines.Group(queue: 1, priorityIndex: 2)
  private let otherQueue = ExclusionLines.Group(queue: 2, priorityIndex: 2)

  @Test("The first member holds the exclusion, and the others are invited in the order of requests")
  func firstComeFirstServed() {
    var lines = ExclusionLines()
    let (a, b, c) = (lines.join([one]), lines.join([one]), lines.join([one]))
    #expect(lines.ask(a, in: queue) == (.granted, []))
    #expect(lines.ask(c, in: queue) == (.refused, []))
    #expect(lines.ask(b, in: queue) == (.refused, []))
    #expect(lines.obstacle(of: a) == nil)
    #expect(lines.obstacle(of: c)?.exclusion == one && lines.obstacle(of: c)?.holders == [a])
    #expect(lines.leave(a) == [b])
    #expect(lines.obstacle(of: b) == nil, "it is invited")
    #expect(lines.ask(b, in: queue) == (.granted, []))
    #expect(lines.leave(b) == [c])
    #expect(lines.ask(c, in: queue) == (.granted, []))
    #expect(lines.leave(c).isEmpty && lines.isEmpty)
    #expect(lines.leave(c).isEmpty)
  }

  @Test("An exclusion is identified by its object, not by its name, and has a limit")
  func limits() {
    var lines = ExclusionLines()
    let namesake = MutualExclusion(name: "pair", limit: 1)
    let (a, b, c) = (lines.join([pair]), lines.join([pair]), lines.join([pair]))
    let d = lines.join([namesake])
    #expect(
      lines.ask(a, in: queue).answer == .granted && lines.ask(b, in: queue).answer == .granted)
    #expect(
      lines.ask(c, in: queue).answer == .refused && lines.ask(d, in: queue).answer == .granted)
    #expect(lines.leave(b) == [c])
    #expect(lines.ask(c, in: queue).answer == .granted)
    #expect(lines.leave(a).isEmpty && lines.leave(c).isEmpty && lines.leave(d).isEmpty)
    #expect(lines.isEmpty)
    #expect(MutualExclusion(name: "none", limit: 0).limit == 1)
    #expect(pair != namesake && pair == pair && "\(pair)" == "pair")
  }

  @Test("A member holds all of its exclusions or none")
  func allOrNone() {
    var lines = ExclusionLines()
    let (a, both, b) = (lines.join([two]), lines.join([two, one]), lines.join([one]))
    #expect(lines.ask(a, in: queue).answer == .granted)
    #expect(lines.ask(both, in: queue).answer == .refused)
    #expect(lines.obstacle(of: both)?.exclusion == two)
    #expect(lines.ask(b, in: queue).answer == .granted)
    #expect(lines.leave(a) == [both])
    #expect(
      lines.ask(both, in: queue).answer == .refused && lines.obstacle(of: both)?.holders == [b])
    #expect(lines.leave(b) == [both])
    #expect(lines.ask(both, in: queue).answer == .granted)
    #expect(lines.leave(both).isEmpty && lines.isEmpty)
  }

  @Test("One member of each queue is invited, and the first that can start gets the exclusion")
  func passedOver() {
    var lines = ExclusionLines()
    let holder = lines.join([one])
    _ = lines.ask(holder, in: queue)
    let (early, next) = (lines.join([one]), lines.join([one]))
    let (late, last) = (lines.join([one]), lines.join([one]))
    for number in [early, next] { _ = lines.ask(number, in: queue) }
    for number in [late, last] { _ = lines.ask(number, in: otherQueue) }
    #expect(lines.leave(holder).sorted() == [early, late])
    // The operation `early` was invited to request the mutual exclusion again, but its queue has no
    // free slot for the request. The operation `late` of another queue gets the exclusion instead.
    #expect(lines.ask(late, in: otherQueue).answer == .granted)
    #expect(lines.ask(early, in: queue).answer == .refused)
    #expect(lines.leave(late).sorted() == [early, last])
  }

  @Test("A member that is no longer ready passes its invitation on, and keeps its number")
  func standingBack() {
    var lines = ExclusionLines()
    let (a, b, c) = (lines.join([one]), lines.join([one]), lines.join([one]))
    for number in [a, b, c] { _ = lines.ask(number, in: queue) }
    #expect(lines.standBack(a) == (false, []), "it executes")
    #expect(lines.leave(a) == [b])
    #expect(lines.standBack(b) == (false, [c]))
    #expect(lines.ask(c, in: queue).answer == .granted)
    #expect(lines.ask(b, in: queue).answer == .refused)
    #expect(lines.standBack(b) == (true, []), "while it waits")
    #expect(lines.leave(c).isEmpty)
    #expect(lines.ask(b, in: queue).answer == .granted)
    #expect(lines.leave(b).isEmpty && lines.isEmpty)
  }

  @Test("A member that leaves while it waits delays no other")
  func leavingTheLine() {
    var lines = ExclusionLines()
    let (a, b, c) = (lines.join([one]), lines.join([one, two]), lines.join([one]))
    for number in [a, b, c] { _ = lines.ask(number, in: queue) }
    #expect(lines.leave(b).isEmpty)
    #expect(lines.leave(a) == [c])
    #expect(lines.leave(c).isEmpty && lines.isEmpty)
  }

  @Test("A member that others overtake repeatedly gets its exclusions after a few of them")
  func noStarvation() {
    var lines = ExclusionLines()
    let both = lines.join([one, two])
    var holders = [lines.join([one]), lines.join([two])]
    for holder in holders { _ = lines.ask(holder, in: otherQueue) }
    #expect(lines.ask(both, in: queue).answer == .refused)
    var answer = ExclusionLines.Answer.refused
    var overtakers = 0
    while answer != .granted, overtakers < 1_000 {
      // The two mutual exclusions are never free at the same time: when one becomes free, another
      // operation already holds the other one.
      for (index, exclusion) in [one, two].enumerated() where answer != .granted {
        var invited = lines.leave(holders[index])
        let next = lines.join([exclusion])
        var nextAnswer = lines.ask(next, in: otherQueue).answer
        if nextAnswer == .granted { overtakers += 1 }
        holders[index] = next
        while let number = invited.popLast() {
          let (its, more) = lines.ask(number, in: number == both ? queue : otherQueue)
          invited += more
          if number == both { answer = its }
          if number == next { nextAnswer = its }
        }
        if case .givesWay = nextAnswer { _ = lines.ask(next, in: otherQueue, insists: true) }
      }
    }
    #expect(answer == .granted && overtakers <= 4 * ExclusionMember.firstPatience)
  }

  @Test(
    "Others give way to a refused member after at most 64 refusals, for at most 50 ms")
  func givingWay() {
    var lines = ExclusionLines()
    let victim = lines.join([one])
    var holder = lines.join([one])
    _ = lines.ask(holder, in: otherQueue)
    var refusals = 0
    var ways: [Int] = []
    var times: [Int64] = []
    for _ in 0..<400 {
      if lines.ask(victim, in: queue).answer == .refused { refusals += 1 }
      let next = lines.join([one])
      #expect(lines.leave(holder) == [victim])
      if case .givesWay(let nanoseconds) = lines.ask(next, in: otherQueue).answer {
        ways.append(refusals)
        times.append(nanoseconds / 1_000_000)
        #expect(lines.ask(next, in: otherQueue, insists: true).answer == .granted)
      }
      holder = next
    }
    #expect(refusals == 400 && ways == [8, 16, 32, 64, 128, 192, 256, 320, 384])
    #expect(times == [1, 2, 4, 8, 16, 32, 50, 50, 50])
    #expect(lines.leave(holder).isEmpty)
    #expect(lines.ask(victim, in: queue).answer == .granted)
    #expect(lines.leave(victim).isEmpty && lines.isEmpty)
  }

  /// Makes an operation request its mutual exclusions until it was refused so often that its free
  /// exclusions are reserved for it. During the requests, operations of another queue hold the
  /// exclusion `two`, one after the other. Returns the last of these operations, which still holds
  /// `two`.
  private func makeDue(_ member: ExclusionLines.Number, _ lines: inout ExclusionLines)
    -> ExclusionLines.Number
  {
    var holder = lines.join([two])
    _ = lines.ask(holder, in: otherQueue)
    for _ in 1..<ExclusionMember.firstPatience {
      _ = lines.ask(member, in: queue)
      let next = lines.join([two])
      _ = lines.leave(holder)
      _ = lines.ask(next, in: otherQueue, insists: true)
      holder = next
    }
    #expect(lines.reservation(of: member) == nil)
    _ = lines.ask(member, in: queue)
    return holder
  }

  @Test(
    "A reservation ends after its time, and the next one lasts twice as long"
  )
  func endOfReservation() throws {
    var lines = ExclusionLines()
    let both = lines.join([one, two])
    let holder = makeDue(both, &lines)
    let reservation = try #require(lines.reservation(of: both))
    #expect(reservation.nanoseconds == 100_000_000)
    // The mutual exclusion `one` is reserved for the operation `both`, which waits for the
    // exclusion `two`. The holder of `two` waits for the operation `awaited`, which needs `one`.
    let awaited = lines.join([one])
    #expect(lines.ask(awaited, in: otherQueue).answer == .refused)
    #expect(lines.endReservation(reservation) == [awaited])
    #expect(lines.endReservation(reservation).isEmpty && lines.reservation(of: both) == nil)
    #expect(lines.ask(awaited, in: otherQueue).answer == .granted)
    #expect(lines.leave(awaited).isEmpty)
    #expect(lines.leave(holder) == [both])
    var last = holder
    while lines.reservation(of: both) == nil {
      last = lines.join([two])
      _ = lines.ask(last, in: otherQueue, insists: true)
      #expect(lines.ask(both, in: queue).answer == .refused)
      if lines.reservation(of: both) == nil { _ = lines.leave(last) }
    }
    #expect(lines.reservation(of: both)?.nanoseconds == 200_000_000)
    #expect(lines.leave(last) == [both] && lines.ask(both, in: queue).answer == .granted)
    #expect(lines.endReservation(reservation).isEmpty)
    #expect(lines.leave(both).isEmpty && lines.isEmpty)
  }

  @Test("The durations of an operation's reservations double from 100 ms up to 51.2 s")
  func longestReservation() {
    var member = ExclusionMember(exclusions: [one, two])
    var durations: [Int64] = []
    for count in 0..<100 {
      member.endedReservationCount = count
      durations.append(member.reservationNanoseconds / 100_000_000)
    }
    #expect(durations.prefix(10) == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512])
    #expect(durations.dropFirst(10).allSatisfy { $0 == 512 })
  }

  @Test(
    "Holders and earlier members with a reservation are reported separately"
  )
  func obstacles() {
    var lines = ExclusionLines()
    let early = lines.join([one])
    let both = lines.join([one, two])
    let holder = makeDue(both, &lines)
    let late = lines.join([one])
    #expect(lines.ask(late, in: otherQueue).answer == .refused)
    #expect(
      lines.obstacle(of: late)
        == ExclusionLines.Obstacle(exclusion: one, holders: [], reservers: [both]))
    #expect(lines.obstacle(of: late)?.isHeld == false)
    #expect(
      lines.obstacle(of: both)
        == ExclusionLines.Obstacle(exclusion: two, holders: [holder], reservers: []))
    // The reservation of the mutual exclusion belongs to a newer operation than `early`. So it does
    // not affect `early`: this operation waits only while another operation holds the exclusion.
    let user = early
    let blocker = lines.join([one])
    #expect(lines.ask(blocker, in: otherQueue).answer == .refused)
    #expect(lines.ask(user, in: queue).answer == .granted)
    #expect(
      lines.obstacle(of: late)
        == ExclusionLines.Obstacle(exclusion: one, holders: [early], reservers: []))
    #expect(lines.obstacle(of: late)?.isHeld == true)
  }

  @Test("A reservation does not affect members that are older than its owner")
  func earlierThanReservation() {
    var lines = ExclusionLines()
    let small = MutualExclusion(name: "small", limit: 2)
    let three = MutualExclusion(name: "three")
    let early = lines.join([small])
    let due = lines.join([small, three])
    var holder = lines.join([three])
    _ = lines.ask(holder, in: otherQueue)
    for _ in 0..<ExclusionMember.firstPatience {
      #expect(lines.ask(due, in: queue).answer == .refused)
      if lines.reservation(of: due) != nil { break }
      let next = lines.join([three])
      _ = lines.leave(holder)
      _ = lines.ask(next, in: otherQueue, insists: true)
      holder = next
    }
    #expect(lines.reservation(of: due) != nil)
    // One operation holds a place of the mutual exclusion, and another place is reserved.
    let first = lines.join([small])
    #expect(lines.ask(first, in: otherQueue).answer == .granted)
    let late = lines.join([small])
    #expect(lines.ask(late, in: otherQueue).answer == .refused)
    #expect(
      lines.obstacle(of: late)
        == ExclusionLines.Obstacle(exclusion: small, holders: [first], reservers: [due]))
    #expect(lines.ask(early, in: queue).answer == .granted)
    #expect(
      lines.obstacle(of: late)
        == ExclusionLines.Obstacle(exclusion: small, holders: [first, early], reservers: []))
  }

  @Test(
    "A member whose exclusion is free while another one of its queue is invited has no obstacle")
  func freeExclusion() {
    var lines = ExclusionLines()
    let (a, b, c) = (lines.join([one]), lines.join([one]), lines.join([one]))
    for number in [a, b, c] { _ = lines.ask(number, in: queue) }
    #expect(lines.leave(a) == [b])
    #expect(lines.obstacle(of: c) == ExclusionLines.Obstacle(exclusion: one))
    #expect(lines.obstacle(of: c)?.isHeld == false)
  }

  @Test("A member whose exclusion is reserved only for a later one has no obstacle")
  func reservedForLaterOne() {
    var lines = ExclusionLines()
    let (a, b, c) = (lines.join([one]), lines.join([one]), lines.join([one]))
    let both = lines.join([one, two])
    _ = makeDue(both, &lines)
    for number in [a, b, c] { _ = lines.ask(number, in: queue) }
    #expect(lines.leave(a) == [b])
    #expect(lines.obstacle(of: c) == ExclusionLines.Obstacle(exclusion: one))
  }

  @Test("The limit of an exclusion may be any number; less than 1 counts as 1")
  func oddLimits() {
    for limit in [Int.min, -1, 0, 1] { #expect(MutualExclusion(name: "", limit: limit).limit == 1) }
    let boundless = MutualExclusion(name: "", limit: .max)
    var lines = ExclusionLines()
    for _ in 0..<1_000 {
      #expect(
        lines.ask(lines.join([boundless, one]), in: queue).answer != .givesWay(nanoseconds: 0))
      #expect(lines.ask(lines.join([boundless]), in: queue).answer == .granted)
    }
  }

  @Test("In random sequences, limits hold, no member waits needlessly, and all finish")
  func randomMoves() {
    var generator = SeededGenerator(seed: SeededGenerator.announcedSeed())
    let exclusions = [one, two, pair, MutualExclusion(name: "many", limit: 5)]
    for _ in 0..<Effort.scaled(100) {
      var play = ExclusionPlay()
      for _ in 0..<150 { play.move(exclusions, &generator) }
      play.end(&generator)
    }
  }

  @Test("Members that come and go while one holds the exclusion leave no memory behind")
  func memory() {
    var lines = ExclusionLines()
    let holder = lines.join([one])
    _ = lines.ask(holder, in: queue)
    for round in 0..<10_000 {
      let number = lines.join([one])
      #expect(lines.ask(number, in: queue).answer == .refused)
      if round.isMultiple(of: 2) { #expect(lines.standBack(number).wasWaiting) }
      #expect(lines.leave(number).isEmpty)
    }
    #expect(lines.lines[one]?.waiting.isEmpty == true)
    _ = lines.leave(holder)
    #expect(lines.isEmpty)
  }
}
