// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCore
import TestSupport
import Testing

@Suite("Lines for exclusions, move by move")
struct ExclusionLinesTests {
  private let one = MutualExclusion(name: "one")
  private let two = MutualExclusion(name: "two")
  private let pair = MutualExclusion(name: "pair", limit: 2)
  private let queue = ExclusionLines.Group(queue: 1, priorityIndex: 2)
  private let otherQueue = ExclusionLines.Group(queue: 2, priorityIndex: 2)

  @Test("The first one has it, and the others are invited in the order in which they asked")
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

  @Test("An exclusion is the object: as many have it as its limit says, whatever others are called")
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

  @Test("A member has all or none: while it lacks one, the other is not idle for it")
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

  @Test("One of each queue is invited, and the first that can start has it")
  func passedOver() {
    var lines = ExclusionLines()
    let holder = lines.join([one])
    _ = lines.ask(holder, in: queue)
    let (early, next) = (lines.join([one]), lines.join([one]))
    let (late, last) = (lines.join([one]), lines.join([one]))
    for number in [early, next] { _ = lines.ask(number, in: queue) }
    for number in [late, last] { _ = lines.ask(number, in: otherQueue) }
    #expect(lines.leave(holder).sorted() == [early, late])
    // The first one has no slot.
    #expect(lines.ask(late, in: otherQueue).answer == .granted)
    #expect(lines.ask(early, in: queue).answer == .refused)
    #expect(lines.leave(late).sorted() == [early, last])
  }

  @Test("One that is no longer ready passes its invitation on, and keeps its place for later")
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

  @Test("One that leaves while it waits holds up no other")
  func leavingTheLine() {
    var lines = ExclusionLines()
    let (a, b, c) = (lines.join([one]), lines.join([one, two]), lines.join([one]))
    for number in [a, b, c] { _ = lines.ask(number, in: queue) }
    #expect(lines.leave(b).isEmpty)
    #expect(lines.leave(a) == [c])
    #expect(lines.leave(c).isEmpty && lines.isEmpty)
  }

  @Test("One that others overtake by turns has what it needs after few of them")
  func noStarvation() {
    var lines = ExclusionLines()
    let both = lines.join([one, two])
    var holders = [lines.join([one]), lines.join([two])]
    for holder in holders { _ = lines.ask(holder, in: otherQueue) }
    #expect(lines.ask(both, in: queue).answer == .refused)
    var answer = ExclusionLines.Answer.refused
    var overtakers = 0
    while answer != .granted, overtakers < 1_000 {
      // Before one of the exclusions is free, the other one has its next holder.
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
        if nextAnswer == .givesWay { _ = lines.ask(next, in: otherQueue, insists: true) }
      }
    }
    #expect(answer == .granted && overtakers <= 4 * ExclusionLines.firstPatience)
  }

  @Test("One that was refused often is given way to, once before its patience doubles")
  func givingWay() {
    var lines = ExclusionLines()
    let victim = lines.join([one])
    var holder = lines.join([one])
    _ = lines.ask(holder, in: otherQueue)
    var refusals = 0
    var ways: [Int] = []
    for _ in 0..<100 {
      if lines.ask(victim, in: queue).answer == .refused { refusals += 1 }
      let next = lines.join([one])
      #expect(lines.leave(holder) == [victim])
      if lines.ask(next, in: otherQueue).answer == .givesWay {
        ways.append(refusals)
        #expect(lines.ask(next, in: otherQueue, insists: true).answer == .granted)
      }
      holder = next
    }
    #expect(refusals == 100 && ways == [8, 16, 32, 64])
    #expect(lines.leave(holder).isEmpty)
    #expect(lines.ask(victim, in: queue).answer == .granted)
    #expect(lines.leave(victim).isEmpty && lines.isEmpty)
  }

  @Test("Whatever happens, limits hold, nothing free is kept from one that could start, all finish")
  func randomMoves() {
    var generator = SeededGenerator(seed: SeededGenerator.announcedSeed())
    let exclusions = [one, two, pair, MutualExclusion(name: "many", limit: 5)]
    for _ in 0..<Effort.scaled(100) {
      var play = Play()
      for _ in 0..<150 { play.move(exclusions, &generator) }
      play.end(&generator)
    }
  }

  @Test("Members that come and go while one has the exclusion leave nothing behind")
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

/// Queues that start members at random moments, and what must hold between two moves.
private struct Play {
  typealias Number = ExclusionLines.Number

  private enum Stage {
    /// In its queue, to be chosen.
    case ready
    /// Refused, and not invited since.
    case waiting
    case executing
    /// A dependency or its own `isReady` holds it up.
    case unready
  }

  private var lines = ExclusionLines()
  private var stages: [Number: Stage] = [:]
  private var wanted: [Number: Set<MutualExclusion>] = [:]
  private var groups: [Number: ExclusionLines.Group] = [:]

  mutating func move(_ exclusions: [MutualExclusion], _ generator: inout SeededGenerator) {
    let number = stages.keys.sorted().randomElement(using: &generator)
    switch (Int.random(in: 0..<8, using: &generator), number) {
    case (0...1, _), (_, nil):
      let set = Set(exclusions.filter { _ in Int.random(in: 0..<3, using: &generator) == 0 })
      let new = lines.join(set)
      wanted[new] = set
      groups[new] = ExclusionLines.Group(
        queue: UInt.random(in: 0..<3, using: &generator), priorityIndex: 2)
      stages[new] = .ready
    case (2, let number?) where stages[number] != .executing:
      let (wasWaiting, invited) = lines.standBack(number)
      #expect(wasWaiting == (stages[number] == .waiting))
      stages[number] = .unready
      invite(invited)
    case (3, let number?): if stages[number] == .unready { stages[number] = .ready }
    case (4, let number?): leave(number)
    case (_, let number?):
      if stages[number] == .ready { ask(number, insists: Bool.random(using: &generator)) }
    }
    check(exclusions)
  }

  mutating func end(_ generator: inout SeededGenerator) {
    while let number = stages.keys.sorted().randomElement(using: &generator) {
      if stages[number] == .unready { stages[number] = .ready }
      if stages[number] == .ready { ask(number, insists: true) }
      if stages[number] == .executing { leave(number) }
      // Those that wait must be invited by the others that leave.
      if stages.values.allSatisfy({ $0 == .waiting }), !stages.isEmpty {
        Issue.record("\(stages.count) wait for ever")
        return
      }
    }
    #expect(lines.isEmpty)
  }

  private mutating func ask(_ number: Number, insists: Bool) {
    guard let group = groups[number] else { return }
    let (answer, invited) = lines.ask(number, in: group, insists: insists)
    switch answer {
    case .granted: stages[number] = .executing
    case .refused: stages[number] = .waiting
    case .givesWay: #expect(!insists)
    }
    invite(invited)
  }

  private mutating func leave(_ number: Number) {
    stages[number] = nil
    wanted[number] = nil
    invite(lines.leave(number))
  }

  private mutating func invite(_ numbers: [Number]) {
    for number in numbers {
      #expect(stages[number] == .waiting, "only one that waits is invited")
      stages[number] = .ready
    }
  }

  private func check(_ exclusions: [MutualExclusion]) {
    for exclusion in exclusions {
      let holders = stages.count { $1 == .executing && wanted[$0]?.contains(exclusion) == true }
      #expect(holders <= exclusion.limit)
    }
    // One whose exclusions are all free waits only if another one of its queue was invited, or if the one
    // that it lacks is reserved.
    for (number, stage) in stages where stage == .waiting {
      guard let obstacle = lines.obstacle(of: number), let its = wanted[number] else {
        Issue.record("\(number) waits for nothing")
        continue
      }
      let line = lines.lines[obstacle.exclusion]
      let isReserved = line?.reserved.contains { $0 < number } == true
      let isHeld = line?.holders.count == obstacle.exclusion.limit
      let isRepresented = stages.contains { other, stage in
        stage == .ready && groups[other] == groups[number]
          && wanted[other]?.contains(obstacle.exclusion) == true
      }
      #expect(its.contains(obstacle.exclusion) && (isHeld || isReserved || isRepresented))
    }
  }
}
