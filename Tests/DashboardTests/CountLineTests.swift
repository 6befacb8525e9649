// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The line of counts")
struct CountLineTests {
  private typealias ID = OperationReport.ID

  private static let widths = [39, 59, 79, 99, 119, 199]

  /// Counts that have a certain number of digits each.
  private static let samples = [
    StateCounts(),
    StateCounts(waiting: 9, ready: 9, executing: 9, finished: 9, cancelled: 9, total: 45),
    StateCounts(
      waiting: 311, ready: 37, held: 12, executing: 5, cancelling: 1, finished: 412, cancelled: 9,
      total: 774),
    StateCounts(
      waiting: 12_345, ready: 1_234, held: 1_234, executing: 2_345, cancelling: 123,
      finished: 881_119, cancelled: 4_321, total: 901_364),
    StateCounts(
      waiting: 99_999_999, ready: 999_999, held: 999_999, executing: 99_999, cancelling: 999,
      finished: 999_999_999, cancelled: 99_999, total: 1_101_199_996),
  ]

  private func text(_ counts: StateCounts, cells: Int) -> String {
    CountLine(counts).spans(cells: cells).map(\.text).joined()
  }

  /// Returns the columns at which a word begins after a space, and the column of `=`.
  private func places(_ line: String) -> [Int] {
    let letters = Array(" " + line)
    return letters.indices.dropFirst().filter { index in
      letters[index - 1] == " " && (letters[index].isLetter || letters[index] == "=")
        && !line.dropFirst(index - 1).hasPrefix("held")
        && !line.dropFirst(index - 1).hasPrefix("cancelling")
    }
  }

  @Test("No word of the line moves while the numbers change", arguments: widths)
  func wordsDoNotMove(cells: Int) {
    let expected = places(text(StateCounts(), cells: cells))
    #expect(expected.count == 6)
    for counts in Self.samples {
      let line = text(counts, cells: cells)
      #expect(places(line) == expected, "\(line)")
      #expect(line.count <= cells, "\(line)")
      #expect(line.count == text(StateCounts(), cells: cells).count)
    }
  }

  @Test("The numbers have commas if they fit, and are abbreviated otherwise")
  func numbersFit() {
    let counts = Self.samples[3]
    #expect(text(counts, cells: 79).hasPrefix("fin 881,119  exec 2.3k"))
    #expect(text(counts, cells: 59).hasPrefix("fin 881k  exec 2k "))
    #expect(text(counts, cells: 119).contains("ready 1,234 (1,234 held)"))
    #expect(text(counts, cells: 199).contains("cancelled 4,321 (+123 cancelling)"))
  }

  @Test func theLineOfAScreenDoesNotMove() throws {
    var dashboard = Scene.dashboard()
    let before = try #require(dashboard.text().first { $0.contains("exec ") })
    var update = Scene.update
    update.queues[0].counts.executing += 20
    update.queues[0].counts.cancelling = 0
    dashboard.take(.monitor(.update(update)))
    let after = try #require(dashboard.text().first { $0.contains("exec ") })
    #expect(before != after && places(before) == places(after))
  }

  @Test("Every count in a table is abbreviated only if its column is too narrow")
  func tablesUseTheSameFormat() {
    var dashboard = Scene.dashboard(columns: 120, rows: 40)
    var update = Scene.update
    update.queues[1].counts.finished = 881_119
    update.queues[1].counts.waiting = 12_345_678
    dashboard.take(.monitor(.update(update)))
    // The table beside the graph has eight cells for waiting operations, with the space before them.
    #expect(dashboard.text().contains { $0.contains("12M") && $0.contains("881,119") })
    dashboard.take(.input(.alt("3")))
    #expect(dashboard.text().shows("881,119"))
  }
}
