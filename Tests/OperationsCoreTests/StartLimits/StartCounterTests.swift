// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import OperationsCore

@Suite("The count of starts in a period")
struct StartCounterTests {
  @Test("The full number of starts is allowed at once, and the next one after a period")
  func burst() {
    var counter = StartCounter(count: 3, period: .seconds(10))
    for _ in 0..<3 {
      #expect(!counter.isReached)
      counter.choose()
      counter.record(at: .seconds(1))
    }
    #expect(counter.isReached && counter.nextEnd == .seconds(11))
    counter.expire(at: .milliseconds(10_999))
    #expect(counter.isReached)
    counter.expire(at: .seconds(11))
    #expect(counter.freeCount == 3 && counter.nextEnd == nil)
  }

  @Test("A chosen operation counts before its time is recorded, and not after it is withdrawn")
  func chosen() {
    var counter = StartCounter(count: 1, period: .seconds(10))
    counter.choose()
    #expect(counter.isReached && counter.nextEnd == nil)
    counter.expire(at: .seconds(99))
    #expect(counter.isReached)
    counter.withdraw()
    #expect(counter.freeCount == 1)
  }

  @Test("A start that was chosen under an earlier limit does not count")
  func earlierLimit() {
    var counter = StartCounter(count: 1, period: .seconds(10))
    counter.record(at: .seconds(1))
    counter.withdraw()
    #expect(counter.freeCount == 1)
  }

  @Test("No period contains more starts than the limit allows", arguments: 0..<20 as Range<UInt64>)
  func everyPeriod(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let count = Int.random(in: 1...7, using: &generator)
    let period = Int64.random(in: 10...50, using: &generator)
    var counter = StartCounter(count: count, period: .seconds(period))
    var starts: [Int64] = []
    var refused = 0
    var now: Int64 = 0
    for _ in 0..<5_000 {
      now += Int64.random(in: 0...(2 * period / Int64(count)), using: &generator)
      counter.expire(at: .seconds(now))
      let recent = starts.suffix(count).count { $0 > now - period }
      #expect(counter.isReached == (recent == count), "seed \(seed)")
      if counter.isReached {
        refused += 1
        continue
      }
      counter.choose()
      counter.record(at: .seconds(now))
      starts.append(now)
    }
    for (first, last) in zip(starts, starts.dropFirst(count)) {
      #expect(last - first >= period, "seed \(seed)")
    }
    #expect(starts.count > 100 && refused > 100, "The random times make both cases frequent")
  }
}
