// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import MonitorClient

@Suite("The search in several processes")
struct MergedSearchTests {
  private typealias ID = OperationReport.ID

  /// Makes the viewer search for a text.
  private func search(_ text: String, in scene: inout MergeScene) {
    var interest = Interest()
    interest.search = Interest.Search(text: text, start: nil)
    _ = scene.merge.watch(interest, at: scene.now)
  }

  /// Makes a process find these operations.
  private func answer(
    _ number: Int, _ text: String, _ ids: [UInt64], in scene: inout MergeScene
  ) {
    var update = MergeScene.update([], at: scene.now)
    update.matches = SearchMatches(
      Interest.Search(text: text, start: nil), count: ids.count, position: 0
    ) { ids[$0].map { ID($0) } }
    scene.say(number, .update(update))
  }

  private func matches(in scene: inout MergeScene) -> SearchMatches? {
    scene.updates(in: scene.take()).last?.matches
  }

  @Test func theMatchesWaitBrieflyForAllProcesses() {
    var scene = MergeScene.heard(2)
    search("job", in: &scene)
    answer(1, "job", [7], in: &scene)
    #expect(matches(in: &scene) == nil)
    #expect(scene.merge.deadline(after: scene.now) == scene.now + MergedSearch.patience)
    answer(2, "job", [3], in: &scene)
    let found = matches(in: &scene)
    #expect(found?.ids.sorted() == [scene.id(1, 7), scene.id(2, 3)] && found?.unanswered == [])
  }

  @Test("A process that never answers does not keep the viewer from the matches of the others")
  func anUnansweredSearch() {
    var scene = MergeScene.heard(3)
    search("j", in: &scene)
    answer(1, "j", [7], in: &scene)
    answer(3, "j", [8, 9], in: &scene)
    // A process with an earlier version of the protocol sends updates without matches.
    scene.report(2, [.executing(1)])
    #expect(matches(in: &scene) == nil)
    scene.now = scene.now + MergedSearch.patience
    let found = matches(in: &scene)
    #expect(found?.ids.sorted() == [scene.id(1, 7), scene.id(3, 8), scene.id(3, 9)])
    #expect(found?.count == 3 && found?.unanswered == [2])
    // The next search does not wait for this process.
    search("jo", in: &scene)
    answer(1, "jo", [7], in: &scene)
    answer(3, "jo", [], in: &scene)
    #expect(matches(in: &scene)?.ids == [scene.id(1, 7)])
    // If the process answers after all, its matches are included, and later searches wait for it again.
    answer(2, "jo", [5], in: &scene)
    let all = matches(in: &scene)
    #expect(all?.ids.sorted() == [scene.id(1, 7), scene.id(2, 5)] && all?.unanswered == [])
    search("job", in: &scene)
    answer(1, "job", [7], in: &scene)
    answer(3, "job", [], in: &scene)
    #expect(matches(in: &scene) == nil)
  }

  @Test(
    "The matches do not wait for a process that cannot answer",
    arguments: [
      (MonitorMessage.silent(for: .seconds(3)), [2]), (.disconnected(reason: "reset"), [2]),
      (.ended(reason: "the process has exited"), []),
    ])
  func unreachable(message: MonitorMessage, unanswered: [Int]) {
    var scene = MergeScene.heard(2)
    scene.say(2, message)
    search("job", in: &scene)
    answer(1, "job", [7], in: &scene)
    let found = matches(in: &scene)
    #expect(found?.ids == [scene.id(1, 7)] && found?.unanswered == unanswered)
  }

  @Test func aSearchThatWasAnsweredInTimeNeedsNoWakeUpAfterTheDeadline() {
    var scene = MergeScene.heard(1)
    search("job", in: &scene)
    answer(1, "job", [7], in: &scene)
    #expect(matches(in: &scene)?.count == 1)
    #expect(scene.merge.deadline(after: scene.now) == nil)
  }

  @Test("After the deadline, the matches do not wait for a process that answers again")
  func aProcessThatReturnsAfterTheDeadline() {
    var scene = MergeScene.heard(2)
    scene.say(2, .silent(for: .seconds(3)))
    search("job", in: &scene)
    answer(1, "job", [7], in: &scene)
    #expect(matches(in: &scene)?.unanswered == [2])
    scene.now = scene.now + MergedSearch.patience
    _ = scene.take()
    scene.report(2, [.executing(1)])
    let found = matches(in: &scene)
    #expect(found?.ids == [scene.id(1, 7)] && found?.unanswered == [2])
  }

  @Test("After the deadline, the matches do not wait for a process that searches its list again")
  func aProcessThatSearchesAgain() {
    var scene = MergeScene.heard(2)
    search("job", in: &scene)
    answer(1, "job", [7], in: &scene)
    answer(2, "job", [3], in: &scene)
    #expect(matches(in: &scene)?.count == 2)
    scene.report(2, [.executing(1)])
    let found = matches(in: &scene)
    #expect(found?.ids == [scene.id(1, 7)] && found?.unanswered == [2])
  }
}
