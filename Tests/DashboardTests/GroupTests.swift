// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Groups of the list")
struct GroupTests {
  private static let sizes = [(80, 24), (120, 40), (200, 60)]

  private static func row(of name: String, in dashboard: Dashboard) -> String {
    dashboard.text().first { $0.dropFirst(2).hasPrefix("\(name) ") } ?? ""
  }

  /// Returns the names of the groups from the top.
  private static func names(in dashboard: Dashboard) -> [String] {
    dashboard.groups?.rows.map { dashboard.shown.title(of: $0.key) } ?? []
  }

  @Test("The groups by kind look as stored", arguments: sizes)
  func kinds(columns: Int, rows: Int) {
    let further = ViewScene.furtherKinds
    GoldenFrame.check(
      GroupScene.dashboard(by: .kind, columns: columns, rows: rows, further: further),
      named: "groups-kind")
  }

  @Test("The groups by queue look as stored", arguments: sizes)
  func queues(columns: Int, rows: Int) {
    GoldenFrame.check(
      GroupScene.dashboard(by: .queue, columns: columns, rows: rows), named: "groups-queue")
  }

  @Test("GR-1: The key v groups the list by kind, then by queue, and then shows the list again")
  func theKeyChangesTheGrouping() {
    var dashboard = ViewScene.dashboard()
    dashboard.press("v")
    #expect(dashboard.keyContext == .groups && dashboard.shownGroups?.by == .kind)
    #expect(dashboard.connection.interest.groups?.by == .kind)
    dashboard.press("v")
    #expect(dashboard.shownGroups?.by == .queue)
    #expect(dashboard.connection.interest.groups?.by == .queue)
    dashboard.press("v")
    #expect(dashboard.keyContext == .list && dashboard.connection.interest.groups == nil)
    dashboard.press("v")
    dashboard.press(.escape)
    #expect(dashboard.keyContext == .list)
  }

  @Test("GR-2: The row of a group has its counts, its rate, its times and a histogram")
  func aRowHasTheValuesOfTheGroup() {
    let dashboard = GroupScene.dashboard(by: .kind, columns: 120, rows: 40)
    let words = Self.row(of: "Resample", in: dashboard).split(separator: " ").dropFirst(2)
    #expect(
      words.map(String.init) == [
        "2", "20", "311", "98", "0", "4", "4.6", "240ms", "4.12s", "1.90s", "9.10s", "▃█",
      ])
    let failed = Self.row(of: "(no kind)", in: dashboard).split(separator: " ").map(String.init)
    #expect(failed.prefix(8) == ["(no", "kind)", "1", "0", "3", "6", "2", "0"])
    #expect(failed.suffix(5).prefix(4) == ["–", "–", "310µs", "3ms"])
  }

  @Test("GR-2: On a narrow screen the row has no histogram, and all numbers", arguments: [80, 100])
  func aNarrowRowHasAllNumbers(columns: Int) {
    let dashboard = GroupScene.dashboard(by: .kind, columns: columns)
    for title in ["EXEC", "READY", "WAIT", "FIN", "FAIL", "CANC", "RATE", "SLOT99", "RUN99"] {
      #expect(dashboard.text().shows(" \(title)"), "\(title)")
    }
    #expect(dashboard.text().shows("RUN TIMES") == (columns == 100))
  }

  @Test("GR-3: The keys < and > select the column of the order, and I reverses the order")
  func theOrderCanBeChanged() {
    var dashboard = GroupScene.dashboard(by: .kind, columns: 120, rows: 40)
    #expect(Self.names(in: dashboard) == ["Resample", "Download", "IndexWriter", "(no kind)"])
    dashboard.press(">")
    #expect(dashboard.text().shows("sort: name ") && dashboard.text().shows("KIND▲"))
    #expect(Self.names(in: dashboard) == ["(no kind)", "Download", "IndexWriter", "Resample"])
    dashboard.press("I")
    #expect(dashboard.text().shows("sort: name, reversed ") && dashboard.text().shows("KIND▼"))
    #expect(Self.names(in: dashboard) == ["Resample", "IndexWriter", "Download", "(no kind)"])
    dashboard.press("I<<")
    #expect(dashboard.text().shows("sort: run p99 ") && dashboard.text().shows("RUN99▼"))
    #expect(Self.names(in: dashboard) == ["Resample", "Download", "IndexWriter", "(no kind)"])
  }

  @Test("GR-3: A group without the value of the order is last, also if the order is reversed")
  func groupsWithoutAValueAreLast() {
    var dashboard = GroupScene.dashboard(by: .kind)
    for _ in 0..<3 { dashboard.press("<") }
    #expect(dashboard.groups?.order.column == .longestWait)
    #expect(Self.names(in: dashboard) == ["Resample", "Download", "IndexWriter", "(no kind)"])
    dashboard.press("I")
    #expect(Self.names(in: dashboard) == ["IndexWriter", "Download", "Resample", "(no kind)"])
  }

  @Test("GR-3: Without a title, the last row shows the order")
  func theOrderIsShownOnANarrowScreen() {
    var dashboard = GroupScene.dashboard(by: .kind)
    dashboard.press(">>>>")
    #expect(dashboard.text().shows("sort: waiting"))
    #expect(dashboard.text().shows("READY WAIT  FIN"))
    // The sentence about the group leaves room for the order.
    #expect(dashboard.text().contains { $0.contains(" operations are unfinished  ") })
    #expect(!dashboard.text().contains { $0.contains("sort: ") && $0.contains("…") })
  }

  @Test("GR-4: Enter lists the operations of the group, and Esc lists all operations again")
  func enterListsTheGroup() throws {
    var dashboard = GroupScene.dashboard(by: .kind)
    dashboard.press("j")
    dashboard.press(.enter)
    #expect(dashboard.keyContext == .list)
    #expect(dashboard.connection.interest.filter?.text == "kind:=\"Download\"")
    #expect(dashboard.connection.interest.groups == nil)
    dashboard.press(.escape)
    #expect(dashboard.connection.interest.filter == nil)
  }

  @Test("GR-4: The filter matches the whole text of the kind and of the name of the queue")
  func theFilterIsExact() throws {
    let kind = "say \"x\" | !y"
    var dashboard = GroupScene.dashboard(by: .kind)
    GroupScene.report(OperationGroups(by: .kind, groups: [.init(key: .kind(kind))]), &dashboard)
    dashboard.press(.enter)
    let filter = try #require(dashboard.list.listing.filter)
    var report = Scene.operations[0]
    report.givenKind = kind
    #expect(filter.matches(report, queueName: "", at: Scene.now))
    report.givenKind = kind + "z"
    #expect(!filter.matches(report, queueName: "", at: Scene.now))
    var queues = GroupScene.dashboard(by: .queue)
    queues.press(.enter)
    #expect(queues.list.listing.filter?.text == "queue:=\"cpu\"")
  }

  @Test("GR-4: If two queues have the same name, the filter matches only the queue of the group")
  func theNameOfAQueueIsNotUnique() throws {
    var dashboard = GroupScene.dashboard(by: .queue)
    var update = ViewScene.update
    update.time = dashboard.now
    update.groups = GroupScene.groups(by: .queue)
    for index in update.queues.indices { update.queues[index].name = "pool" }
    dashboard.take(.monitor(.update(update)))
    dashboard.press("j")
    dashboard.press(.enter)
    let filter = try #require(dashboard.list.listing.filter)
    #expect(filter.text == "queue:=\"pool\" queue:=#\(Scene.io.rawValue)")
    let matching = Scene.operations.filter { filter.matches($0, queueName: "pool", at: Scene.now) }
    #expect(!matching.isEmpty && matching.allSatisfy { $0.queue == Scene.io })
    #expect(dashboard.list.rows.keys.count == matching.count)
  }

  @Test("GR-4: A group whose queue no longer exists is not listed")
  func theQueueOfAGroupIsGone() {
    var dashboard = GroupScene.dashboard(by: .queue)
    var update = ViewScene.update
    update.time = dashboard.now
    update.groups = GroupScene.groups(by: .queue)
    update.queues.removeAll { $0.id == Scene.cpu }
    dashboard.take(.monitor(.update(update)))
    #expect(dashboard.groups?.selected?.key == .queue(Scene.cpu))
    #expect(dashboard.press(.enter) == [.bell])
    #expect(dashboard.text().shows("the queue no longer exists"))
    #expect(dashboard.keyContext == .groups && dashboard.list.listing.filter == nil)
  }

  @Test("GR-4: A filter of the list stays in force when Enter lists a group")
  func thePresentFilterStays() {
    var dashboard = GroupScene.dashboard(by: .kind)
    dashboard.press("vv\\state:exec")
    dashboard.press(.enter)
    for _ in 0..<2 {
      dashboard.press("v")
      GroupScene.report(GroupScene.groups(by: .kind), &dashboard)
      dashboard.press(.enter)
      #expect(dashboard.list.listing.filter?.text == "state:exec kind:=\"Resample\"")
    }
  }

  @Test("GR-4: A kind that is too long for a filter is refused")
  func aLongKindIsRefused() {
    var dashboard = GroupScene.dashboard(by: .kind)
    let kind = String(repeating: "k", count: 4 << 10)
    GroupScene.report(OperationGroups(by: .kind, groups: [.init(key: .kind(kind))]), &dashboard)
    #expect(dashboard.press(.enter) == [.bell])
    #expect(dashboard.keyContext == .groups && dashboard.list.listing.filter == nil)
    #expect(dashboard.text().shows("too long for a filter"))
  }

  @Test("GR-5: The first group is selected until a key selects another one")
  func theFirstGroupIsSelectedAtFirst() {
    var dashboard = GroupScene.dashboard(by: .kind)
    #expect(dashboard.groups?.selected?.key == .kind("Resample"))
    var groups = GroupScene.groups(by: .kind)
    groups.groups[0].counts.waiting += 1_000
    GroupScene.report(groups, &dashboard)
    #expect(dashboard.groups?.selected?.key == .kind("Download"))
    dashboard.press("j")
    #expect(dashboard.groups?.selected?.key == .kind("Resample"))
    groups.groups[1].counts.waiting += 9_000
    GroupScene.report(groups, &dashboard)
    #expect(Self.names(in: dashboard).first == "Resample")
    #expect(dashboard.groups?.selected?.key == .kind("Resample"))
  }

  @Test("GR-6: If the selected group disappears, no group is selected until a key selects one")
  func aGroupThatDisappearsLeavesALine() {
    var dashboard = GroupScene.dashboard(by: .kind)
    dashboard.press("j")
    var groups = GroupScene.groups(by: .kind)
    groups.groups.removeAll { $0.key == .kind("Download") }
    GroupScene.report(groups, &dashboard)
    #expect(dashboard.text().shows("▌ the selected group no longer exists"))
    #expect(dashboard.groups?.selected == nil)
    #expect(dashboard.press(.enter) == [.bell] && dashboard.keyContext == .groups)
    dashboard.press("j")
    #expect(dashboard.groups?.selected?.key == .kind("IndexWriter"))
  }

  @Test("GR-8: The rate counts all operations of the group that have ended")
  func theRateIsExact() {
    var dashboard = GroupScene.dashboard(by: .kind)
    var groups = GroupScene.groups(by: .kind)
    groups.groups[2].endedCount += 500
    GroupScene.report(groups, &dashboard, at: 61)
    dashboard.take(.tick(Scene.seconds(164)))
    #expect(Self.row(of: "IndexWriter", in: dashboard).contains(" 500 "))
    dashboard.press("<<<<<")
    #expect(Self.names(in: dashboard).first == "IndexWriter")
  }

  @Test("GR-8: The rate is unknown until a whole second of the group was observed")
  func theFirstSecondIsWhole() {
    var dashboard = ViewScene.dashboard()
    dashboard.press("v")
    var groups = GroupScene.groups(by: .kind)
    var update = ViewScene.update
    update.time = dashboard.now
    update.groups = nil
    dashboard.take(.monitor(.update(update)))
    // The groups arrive in the middle of a second. Ten operations end per second.
    for tenth in 6...35 {
      update.time = Scene.seconds(103 + Double(tenth) / 10)
      update.groups = groups
      dashboard.take(.tick(update.time))
      dashboard.take(.monitor(.update(update)))
      let words = Self.row(of: "Download", in: dashboard).split(separator: " ")
      #expect(words.dropFirst(7).first == (tenth < 20 ? "–" : "10"), "\(tenth)")
      groups.groups[0].endedCount += 1
    }
    #expect(dashboard.shown.groupHistories[.kind("Download")]?.samples == [10, 10])
  }

  @Test("GR-8: The rate of a group in which nothing ends becomes known without further updates")
  func theRateBecomesKnown() throws {
    var dashboard = ViewScene.dashboard()
    dashboard.press("v")
    // An update without groups ends the histories.
    dashboard.take(.monitor(.update(Scene.update)))
    var update = ViewScene.update
    update.time = Scene.seconds(170.6)
    dashboard.take(.tick(update.time))
    dashboard.take(.monitor(.update(update)))
    func rate() -> Substring? {
      Self.row(of: "Download", in: dashboard).split(separator: " ").dropFirst(7).first
    }
    #expect(rate() == "–")
    for _ in 0..<20 where rate() != "0" {
      dashboard.take(.tick(try #require(dashboard.nextTick(after: dashboard.now))))
    }
    #expect(rate() == "0" && dashboard.now <= Scene.seconds(173))
  }

  @Test("GR-8: After a pause of the process, the history of a group begins again")
  func aPauseInterruptsTheHistory() throws {
    for isSilent in [true, false] {
      var dashboard = GroupScene.dashboard(by: .kind)
      #expect(dashboard.shown.groupHistories[.kind("Download")]?.samples.isEmpty == false)
      var update = ViewScene.update
      update.time = Scene.seconds(170)
      update.groups = GroupScene.groups(by: .kind)
      update.groups?.groups[0].endedCount += 300_000
      if isSilent {
        dashboard.take(.monitor(.silent(for: .seconds(3))))
        dashboard.take(.monitor(.silent(for: .zero)))
      } else {
        update.behind = .seconds(2)
      }
      dashboard.take(.monitor(.update(update)))
      update.time = Scene.seconds(171)
      update.groups?.groups[0].endedCount += 3
      update.behind = .zero
      dashboard.take(.monitor(.update(update)))
      dashboard.take(.tick(Scene.seconds(172)))
      #expect(dashboard.shown.groupHistories[.kind("Download")]?.samples == [0, 3])
    }
  }

  @Test("GR-8: After operations of unknown number have ended, the rate is unknown for a second")
  func unknownEndsInterruptTheHistory() {
    var dashboard = GroupScene.dashboard(by: .kind)
    var update = ViewScene.update
    var groups = GroupScene.groups(by: .kind)
    // Ten operations end per second.
    for tenth in 1...50 {
      update.time = GroupScene.now + .milliseconds(100 * tenth)
      groups.groups[0].endedCount += 1
      groups.groups[0].lacksEnds = tenth == 25
      update.groups = groups
      dashboard.take(.tick(update.time))
      dashboard.take(.monitor(.update(update)))
      let words = Self.row(of: "Download", in: dashboard).split(separator: " ")
      let rate = words.dropFirst(7).first
      if tenth >= 20 { #expect(rate == (25..<40 ~= tenth ? "–" : "10"), "\(tenth)") }
    }
  }

  @Test("GR-8: The groups are drawn again only while a rate or a bar on the screen changes")
  func theRestIsQuiet() throws {
    var dashboard = GroupScene.dashboard(by: .kind, columns: 200, rows: 60)
    // The rows above the groups have a history of their own.
    dashboard.press("#")
    var moment = Scene.seconds(162)
    var count = 0
    while let next = dashboard.nextTick(after: moment), count < 500 {
      #expect(next > moment)
      moment = next
      dashboard.take(.tick(moment))
      count += 1
    }
    // The last bar leaves the column of 60 seconds after about a minute.
    #expect((50..<70).contains(count), "\(count)")
    let picture = dashboard.picture()
    dashboard.take(.tick(moment + .seconds(100)))
    // Only the clock in the first row has changed.
    #expect(picture.text.dropFirst() == dashboard.picture().text.dropFirst())
  }
}
