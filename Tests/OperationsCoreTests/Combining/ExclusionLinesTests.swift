// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCore
import TestSupport
import Testing

@Suite("Lines for categories, move by move")
struct ExclusionLinesTests {
  private let one: ExclusionCategory = "one"
  private let two: ExclusionCategory = "two"
  private let pair = ExclusionCategory("pair", limit: 2)

  @Test("Who comes first has it, and leaves it to the next")
  func firstComeFirstServed() {
    var lines = ExclusionLines()
    let (a, hasA) = lines.join([one])
    let (b, hasB) = lines.join([one])
    let (c, hasC) = lines.join([one])
    #expect(hasA && !hasB && !hasC)
    #expect(lines.obstacle(of: a) == nil)
    #expect(lines.obstacle(of: c)?.category == one && lines.obstacle(of: c)?.holders == [a])
    #expect(lines.leave(a) == [b])
    #expect(lines.leave(b) == [c])
    #expect(lines.leave(c).isEmpty && lines.isEmpty)
    #expect(lines.leave(c).isEmpty)
  }

  @Test("As many have a category as its limit says, and of two limits it is two")
  func limits() {
    var lines = ExclusionLines()
    let (a, hasA) = lines.join([pair])
    let (b, hasB) = lines.join([pair])
    let (c, hasC) = lines.join([pair])
    let (d, hasD) = lines.join(["pair"])
    #expect(hasA && hasB && !hasC && hasD)
    #expect(lines.leave(b) == [c])
    #expect(lines.leave(a).isEmpty && lines.leave(c).isEmpty && lines.leave(d).isEmpty)
    #expect(lines.isEmpty)
    #expect(ExclusionCategory("none", limit: 0).limit == 1)
  }

  @Test("Who wants two takes one after the other, by name, and holds only what comes before")
  func oneAfterTheOther() {
    var lines = ExclusionLines()
    let (a, _) = lines.join([one])
    let (b, hasB) = lines.join([two, one])
    let (c, hasC) = lines.join([two])
    #expect(!hasB && hasC && lines.obstacle(of: b)?.category == one)
    // It has the first now, and waits for the second.
    #expect(lines.leave(a).isEmpty)
    #expect(lines.obstacle(of: b)?.category == two && lines.obstacle(of: b)?.holders == [c])
    let (d, hasD) = lines.join([one])
    #expect(!hasD)
    #expect(lines.leave(c) == [b])
    #expect(lines.leave(b) == [d])
    #expect(lines.leave(d).isEmpty && lines.isEmpty)
  }

  @Test("Who leaves while it waits holds nobody up")
  func leavingTheLine() {
    var lines = ExclusionLines()
    let (a, _) = lines.join([one])
    let (b, _) = lines.join([pair, two])
    let (c, _) = lines.join([one, two])
    let (d, _) = lines.join([one])
    let (e, hasE) = lines.join([two])
    #expect(!hasE && lines.obstacle(of: c)?.category == one)
    #expect(lines.leave(c).isEmpty)
    #expect(lines.leave(a) == [d])
    // This one held something and waited for nothing.
    #expect(lines.leave(b) == [e])
    #expect(lines.leave(d).isEmpty && lines.leave(e).isEmpty && lines.isEmpty)
  }

  @Test("Whatever happens, limits hold, nobody is lost, and at the end nothing is left")
  func randomMoves() {
    var generator = SeededGenerator(seed: SeededGenerator.announcedSeed())
    let categories: [ExclusionCategory] = [one, two, pair, ExclusionCategory("many", limit: 5)]
    for _ in 0..<Effort.scaled(300) {
      var lines = ExclusionLines()
      var wanted: [ExclusionLines.Number: Set<ExclusionCategory>] = [:]
      var complete: Set<ExclusionLines.Number> = []
      func leave(_ number: ExclusionLines.Number) {
        wanted[number] = nil
        complete.remove(number)
        for next in lines.leave(number) { #expect(complete.insert(next).inserted) }
      }
      for _ in 0..<100 {
        if wanted.isEmpty || Bool.random(using: &generator) {
          let set = Set(categories.filter { _ in Int.random(in: 0..<3, using: &generator) == 0 })
          let (number, hasAll) = lines.join(set)
          wanted[number] = set
          if hasAll { complete.insert(number) }
        } else if let number = wanted.keys.sorted().randomElement(using: &generator) {
          leave(number)
        }
        for category in categories {
          #expect(complete.count { wanted[$0]?.contains(category) == true } <= category.limit)
        }
        // The first of all is never held up for ever: those that have everything are ahead of it.
        #expect(complete.isEmpty == wanted.isEmpty)
      }
      while let number = complete.min() { leave(number) }
      #expect(wanted.isEmpty && lines.isEmpty)
    }
  }

  @Test("Members that come and go while one has the category leave nothing behind")
  func memory() {
    var lines = ExclusionLines()
    let (holder, _) = lines.join([one])
    for _ in 0..<10_000 {
      let (number, _) = lines.join([one])
      #expect(lines.leave(number).isEmpty)
    }
    #expect(lines.lines[one]?.waiting.isEmpty == true)
    _ = lines.leave(holder)
    #expect(lines.isEmpty)
  }
}
