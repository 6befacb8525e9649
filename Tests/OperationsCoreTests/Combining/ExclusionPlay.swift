// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing
import TestSupport

@testable import OperationsCore

/// A random test of mutual exclusions: queues start operations at random moments, and certain
/// conditions must be true after each step.
struct ExclusionPlay {
  typealias Number = ExclusionLines.Number

  private enum Stage {
    /// The operation is in its queue, and the queue may choose it.
    case ready
    /// The operation's request for its mutual exclusions was refused, and the operation has not
    /// been invited to repeat the request.
    case waiting
    case executing
    /// The operation waits for a dependency, or its own `isReady` is `false`.
    case unready
  }

  private var lines = ExclusionLines()
  private var stages: [Number: Stage] = [:]
  private var wanted: [Number: Set<MutualExclusion>] = [:]
  private var groups: [Number: ExclusionLines.Group] = [:]

  mutating func move(_ exclusions: [MutualExclusion], _ generator: inout SeededGenerator) {
    let number = stages.keys.sorted().randomElement(using: &generator)
    switch (Int.random(in: 0..<9, using: &generator), number) {
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
    case (8, let number?):
      if let reservation = lines.reservation(of: number) {
        invite(lines.endReservation(reservation))
      }
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
      // If all remaining operations wait, an operation has given up its mutual exclusions without
      // inviting the operations that wait for them.
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
      #expect(stages[number] == .waiting, "only waiting members are invited")
      stages[number] = .ready
    }
  }

  private func check(_ exclusions: [MutualExclusion]) {
    for exclusion in exclusions {
      let holders = stages.count { $1 == .executing && wanted[$0]?.contains(exclusion) == true }
      #expect(holders <= exclusion.limit)
    }
    // An operation whose mutual exclusions are all free waits only if another operation of its
    // queue was invited to request them, or if one of them is reserved for an earlier operation.
    for (number, stage) in stages where stage == .waiting {
      guard let obstacle = lines.obstacle(of: number), let its = wanted[number] else {
        Issue.record("\(number) waits for nothing")
        continue
      }
      for holder in obstacle.holders {
        #expect(stages[holder] == .executing)
        #expect(wanted[holder]?.contains(obstacle.exclusion) == true)
      }
      #expect(obstacle.reservers.allSatisfy { $0 < number && stages[$0] == .waiting })
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

extension ExclusionLines {
  /// Whether no operation is registered, and no mutual exclusion has holders, waiting operations or
  /// reservations.
  var isEmpty: Bool { members.isEmpty && lines.isEmpty }
}
