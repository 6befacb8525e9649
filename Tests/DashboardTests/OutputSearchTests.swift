// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The search in the output of a job") struct OutputSearchTests {
  private func opened(_ text: String = OutputScene.lines(0..<1_000)) -> OutputScene {
    var scene = OutputScene([text])
    scene.press("L")
    return scene
  }

  @Test("JR-21: A search selects the first match as it is typed, and n and N the other matches")
  func search() {
    var scene = opened()
    scene.press("g/LINE 55")
    #expect(scene.selected == 55 && scene.shows("find in log: LINE 55_   at 4 %"))
    #expect(scene.searches.map(\.start) == [0])
    scene.press("0")
    #expect(scene.selected == 550 && scene.numbers.first == 550)
    scene.press(.backspace)
    #expect(scene.selected == 55)
    scene.press(.enter)
    #expect(scene.shows("/LINE 55: at 4 %"))
    scene.press("n")
    #expect(scene.selected == 550)
    scene.press("n")
    #expect(scene.selected == 551)
    scene.press("NN")
    #expect(scene.selected == 55)
    scene.press("N")
    #expect(scene.selected == 559)
    scene.press("n")
    #expect(scene.selected == 55)
  }

  @Test("A match on the screen does not move the lines")
  func visibleMatch() {
    var scene = opened()
    scene.press("g")
    let before = scene.numbers
    scene.press("/line 4")
    #expect(scene.numbers == before && scene.selected == 4)
  }

  @Test("A match stays selected when the file grows and when the lines move")
  func matchStays() {
    var scene = opened()
    scene.press("g/line 500")
    scene.press(.enter)
    scene.files[0] += OutputScene.lines(1_000..<1_500)
    scene.tick()
    scene.press("kk")
    #expect(scene.selected == 500)
    scene.press("Gn")
    #expect(scene.selected == 500)
  }

  @Test("Esc in the search prompt restores the lines before the search")
  func cancelledSearch() {
    var scene = opened()
    scene.press("gjjj")
    let before = scene.numbers
    scene.press("/line 77")
    #expect(scene.numbers != before)
    scene.press(.escape)
    #expect(scene.numbers == before && scene.selected == nil)
    #expect(scene.press("n") == [.bell])
    #expect(scene.shows("no search text; press / to search"))
  }

  @Test("JR-21: After a search that was discarded, n goes on from the earlier match")
  func discardedSearch() {
    var scene = opened()
    scene.press("g/LINE 55")
    scene.press(.enter)
    scene.press("n")
    #expect(scene.selected == 550)
    scene.press("/other")
    scene.press(.escape)
    scene.press("n")
    #expect(scene.selected == 551)
  }

  @Test("A search without a match is refused")
  func noMatch() {
    var scene = opened()
    #expect(scene.press("/nothing") == [])
    #expect(scene.shows("no match"))
    scene.press(.enter)
    #expect(scene.press("n") == [.bell])
    #expect(scene.shows("no match for nothing"))
  }

  @Test("JR-21: A search that reaches its limit says so, and n and N continue it")
  func limit() {
    var scene = opened()
    scene.byteLimit = 100
    scene.press("g/nothing")
    #expect(scene.shows("no match in 128 MiB"))
    scene.press(.enter)
    #expect(scene.press("n") == [.bell])
    #expect(scene.searches.map(\.start) == [100])
    #expect(scene.shows("no match in 128 MiB; press n to search the next part"))
    scene.press("n")
    #expect(scene.searches.map(\.start) == [200])
    #expect(scene.searches.map(\.readCount) == [2 * OutputSearch.byteLimit])
    scene.press("N")
    #expect(scene.searches.map(\.start) == [0])
  }

  @Test("Late answers do no harm")
  func lateAnswers() throws {
    var scene = opened()
    scene.press("/line 7")
    scene.press(.enter)
    let before = scene.dashboard.picture()
    var request = OutputRequest(name: "other", attempt: nil, position: .end, lineLimit: 10)
    let facts = OutputFacts(size: 2, attempt: 1, attemptCount: 1)
    let line = OutputPage.Line(offset: 0, text: "x")
    scene.take(.output(OutputPage(request, facts: facts, lines: [line], end: 2)))
    request.name = OutputScene.name
    let page = try #require(scene.page(request))
    let search = OutputSearch(
      name: OutputScene.name, attempt: 1, text: "line 8", start: 0, isForward: true, lineLimit: 10)
    scene.take(.outputSearched(OutputSearchResult(search, .found(line: 0, page))))
    scene.take(.outputSearched(OutputSearchResult(search, .notFound)))
    #expect(scene.dashboard.picture() == before)
    scene.press("q")
    scene.take(.output(page))
    scene.take(.outputSearched(OutputSearchResult(search, .found(line: 0, page))))
    #expect(scene.dashboard.keyContext == .list)
  }
}
