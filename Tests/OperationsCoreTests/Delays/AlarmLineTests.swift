// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import OperationsCore

@Suite("The alarms of one clock")
struct AlarmLineTests {
  private final class Target: AlarmTarget {
    let number: Int

    init(_ number: Int) { self.number = number }
    func alarmRings() {}
  }

  private func numbers(_ targets: [any AlarmTarget]) -> [Int] {
    targets.compactMap { ($0 as? Target)?.number }
  }

  @Test("The first alarm begins a sleep, a later one begins none, and an earlier one replaces it")
  func sleeps() {
    var line = AlarmLine()
    let targets = (0..<3).map(Target.init)
    let first = line.set(targets[0], at: .seconds(5))
    #expect(first?.end == .seconds(5))
    #expect(line.set(targets[1], at: .seconds(5)) == nil)
    let second = line.set(targets[2], at: .seconds(2))
    #expect(second?.end == .seconds(2) && second != first && line.sleep == second)
  }

  @Test("At the end of a sleep, due alarms ring in the order of their times, then of addition")
  func order() throws {
    var line = AlarmLine()
    let times: [Int64] = [5, 2, 5, 9, 2, 1]
    let targets = times.indices.map(Target.init)
    for (index, time) in times.enumerated() { _ = line.set(targets[index], at: .seconds(time)) }
    let sleep = try #require(line.sleep)
    let (due, next) = line.sleepEnded(sleep.number, at: .seconds(5))
    #expect(numbers(due) == [5, 1, 4, 0, 2])
    #expect(next?.end == .seconds(9) && line.count == 1)
  }

  @Test("A sleep that ends before the earliest alarm rings nothing and is begun again")
  func earlyEnd() throws {
    var line = AlarmLine()
    let target = Target(0)
    _ = line.set(target, at: .seconds(5))
    let sleep = try #require(line.sleep)
    let (due, next) = line.sleepEnded(sleep.number, at: .seconds(4))
    #expect(due.isEmpty && next?.end == .seconds(5))
  }

  @Test("The end of a replaced sleep has no effect")
  func replacedSleep() throws {
    var line = AlarmLine()
    let targets = [Target(0), Target(1)]
    _ = line.set(targets[0], at: .seconds(5))
    let old = try #require(line.sleep)
    let new = line.set(targets[1], at: .seconds(1))
    let (due, next) = line.sleepEnded(old.number, at: .seconds(9))
    #expect(due.isEmpty && next == nil && line.count == 2 && line.sleep == new)
  }

  @Test("The sleeps of two lines differ, even if their alarms are the same")
  func sleepsOfTwoLines() {
    let target = Target(0)
    var lines = [AlarmLine(), AlarmLine()]
    let first = lines[0].set(target, at: .seconds(5))
    let second = lines[1].set(target, at: .seconds(5))
    #expect(first != nil && second != nil && first != second)
  }

  @Test("A second alarm of an object replaces its first one")
  func replacedAlarm() throws {
    var line = AlarmLine()
    let target = Target(0)
    _ = line.set(target, at: .seconds(1))
    _ = line.set(target, at: .seconds(3))
    #expect(line.count == 1 && line.time(of: target) == .seconds(3))
    let sleep = try #require(line.sleep)
    let (due, next) = line.sleepEnded(sleep.number, at: .seconds(2))
    #expect(due.isEmpty && next?.end == .seconds(3))
  }

  @Test("A removed alarm does not ring, and its object is released")
  func removal() throws {
    var line = AlarmLine()
    weak var released: Target?
    do {
      let target = Target(0)
      released = target
      _ = line.set(target, at: .seconds(1))
      let removed = [line.remove(target), line.remove(target)]
      #expect(removed[0] === target && removed[1] == nil)
    }
    #expect(released == nil && line.isEmpty && line.placeCount == 0)
    let sleep = try #require(line.sleep)
    #expect(line.sleepEnded(sleep.number, at: .seconds(2)).due.isEmpty)
  }

  @Test("The number of places of removed alarms is at most the number of alarms")
  func places() {
    var line = AlarmLine()
    let targets = (0..<10_000).map(Target.init)
    for target in targets { _ = line.set(target, at: .seconds(target.number)) }
    for target in targets.dropFirst(10) { _ = line.remove(target) }
    #expect(line.count == 10 && line.placeCount <= 64)
  }

  @Test("Random alarms ring like those of a sorted list", arguments: 0..<20 as Range<UInt64>)
  func random(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var line = AlarmLine()
    var model: [(time: Int64, order: Int, target: Target)] = []
    var now: Int64 = 0
    for step in 0..<2_000 {
      switch Int.random(in: 0..<10, using: &generator) {
      case 0..<6:
        let target = Target(step)
        let time = now + Int64.random(in: 0..<100, using: &generator)
        _ = line.set(target, at: .seconds(time))
        model.append((time, step, target))
      case 6, 7:
        guard let index = model.indices.randomElement(using: &generator) else { continue }
        let removed = line.remove(model.remove(at: index).target)
        #expect(removed != nil)
      default:
        now += Int64.random(in: 0..<30, using: &generator)
        guard let sleep = line.sleep else { continue }
        let (due, next) = line.sleepEnded(sleep.number, at: .seconds(now))
        let expected = model.filter { $0.time <= now }.sorted {
          ($0.time, $0.order) < ($1.time, $1.order)
        }
        #expect(numbers(due) == expected.map(\.target.number), "seed \(seed), step \(step)")
        model.removeAll { $0.time <= now }
        #expect(
          next?.end == model.map(\.time).min().map { .seconds($0) }, "seed \(seed), step \(step)")
      }
      #expect(line.count == model.count)
      if let earliest = model.map(\.time).min() {
        let end = try #require(line.sleep).end
        #expect(end <= .seconds(earliest), "seed \(seed), step \(step)")
      }
    }
  }
}
