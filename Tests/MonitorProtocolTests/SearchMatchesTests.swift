// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import MonitorProtocol

@Suite("The matches of a search")
struct SearchMatchesTests {
  private func id(_ number: Int) -> OperationReport.ID { .init(UInt64(number)) }

  /// Returns the matches of a search that finds the operations with the ids from 0 to `count`, excluding
  /// `count`. The position of each operation is its id.
  private func matches(_ count: Int, from position: Int) -> SearchMatches {
    SearchMatches(.init(text: "a", start: id(position)), count: count, position: position) {
      $0.map { id($0) }
    }
  }

  @Test("Few matches are complete, and the first match follows the last one")
  func fewMatches() {
    let few = matches(3, from: 2)
    #expect(few.isComplete && few.ids == [id(0), id(1), id(2)] && few.next == 2)
    #expect(few.match(1, from: id(2)) == id(0) && few.match(-4, from: id(2)) == id(1))
    #expect(matches(3, from: 3).next == 0)
    #expect(matches(0, from: 0).match(1, from: nil) == nil)
  }

  @Test("Of many matches, those on both sides of the start are known", arguments: [0, 5, 50, 99])
  func manyMatches(position: Int) {
    let many = matches(100, from: position)
    #expect(!many.isComplete && many.ids.count == 65 && many.ids[many.next] == id(position))
    for distance in -32...32 {
      let wanted = (position + distance + 100) % 100
      #expect(many.match(distance, from: id(position)) == id(wanted))
      #expect(many.position(of: id(wanted)) == wanted)
    }
    #expect(many.match(60, from: id(position)) == id((position + 32) % 100))
    #expect(many.position(of: id((position + 50) % 100)) == nil)
  }

  @Test("From a start that does not match, one step leads to the next match")
  func startThatDoesNotMatch() {
    let search = Interest.Search(text: "a", start: id(77))
    let found = SearchMatches(search, count: 3, position: 1) { $0.map { id($0) } }
    #expect(found.match(0, from: id(77)) == id(1) && found.match(1, from: id(77)) == id(1))
    #expect(found.match(2, from: id(77)) == id(2) && found.match(-1, from: id(77)) == id(0))
    #expect(found.match(1, from: id(78)) == nil)
  }

  @Test("The matches of several processes are joined in the order of the processes")
  func joinedMatches() {
    func part(_ count: Int, _ base: Int, from position: Int) -> SearchMatches {
      SearchMatches(.init(text: "a"), count: count, position: position) { $0.map { id(base + $0) } }
    }
    let search = Interest.Search(text: "a", start: id(201))
    let few = SearchMatches(
      search, joining: [part(2, 100, from: 0), part(3, 200, from: 1), part(0, 300, from: 0)],
      startingIn: 1)
    #expect(few.count == 5 && few.ids.count == 5 && few.ids[few.next] == id(201))
    let around = (-2...2).map { few.match($0, from: id(201)) }
    #expect(around == [101, 200, 201, 202, 100].map { id($0) })
    #expect(few.position(of: id(100)) == 0 && few.position(of: id(201)) == 3)
    let many = SearchMatches(
      search, joining: [part(1_000, 0, from: 0), part(1_000, 2_000, from: 0)], startingIn: 1)
    #expect(many.count == 2_000 && many.ids[many.next] == id(2_000))
    #expect(many.match(-1, from: id(2_000)) == id(999) && many.position(of: id(999)) == 999)
    #expect(many.match(32, from: id(2_000)) == id(2_032))
  }
}
