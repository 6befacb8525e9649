// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The line below the groups of the list")
struct GroupRemarkTests {
  @Test("GR-7: Groups without a row are counted, also if the screen is full")
  func otherGroupsAreCounted() {
    var dashboard = GroupScene.dashboard(by: .kind)
    #expect(dashboard.text().shows("  3 more groups"))
    var groups = OperationGroups(by: .kind, otherCount: 1)
    groups.groups = (1...50).map { .init(key: .kind("kind \($0)")) }
    GroupScene.report(groups, &dashboard)
    #expect(dashboard.text().shows("  1 more group"))
    dashboard.press("G")
    #expect(dashboard.text().shows("▌ kind 9 ") && dashboard.text().shows("  1 more group"))
    GroupScene.report(OperationGroups(by: .kind, otherCount: 50), &dashboard)
    #expect(dashboard.text().shows("  50 more groups"))
  }

  @Test("GR-7: Until the operations are counted, the screen says so")
  func countingIsShown() {
    var dashboard = ViewScene.dashboard()
    dashboard.press("vv")
    #expect(dashboard.text().shows("counting…"))
    GroupScene.report(OperationGroups(by: .queue), &dashboard)
    #expect(dashboard.text().shows("no operations"))
    GroupScene.report(nil, &dashboard)
    #expect(dashboard.text().shows("counting…"))
    dashboard.press("p")
    #expect(dashboard.text().shows("the groups were not counted before the pause"))
  }

  @Test("GR-7: A process with an older version of opq never counts, and the screen says so")
  func anOldProcessIsNamed() {
    var hello = Scene.hello
    hello.sendsQueueDetails = false
    var dashboard = ViewScene.dashboard()
    dashboard.take(.monitor(.hello(hello)))
    var update = ViewScene.update
    update.groups = nil
    dashboard.take(.monitor(.update(update)))
    dashboard.press("v")
    #expect(
      dashboard.text().shows(
        "a process with an older version of opq does not count operations by kind"))
    #expect(!dashboard.text().shows("counting…"))
    dashboard.press("v")
    #expect(dashboard.text().shows("does not count operations by queue"))
  }

  @Test("GR-7: Processes with an older version of opq are named below the groups of the others")
  func oldProcessesAreNamed() {
    var hello = Scene.hello
    hello.sendsQueueDetails = false
    var dashboard = ViewScene.dashboard()
    dashboard.press("v")
    var update = ViewScene.update
    update.groups = OperationGroups(
      by: .kind, groups: (1...50).map { .init(key: .kind("kind \($0)")) })
    update.processes = [
      ProcessReport(number: 1, hello: Scene.hello), ProcessReport(number: 2, hello: hello),
    ]
    dashboard.take(.monitor(.update(update)))
    #expect(
      dashboard.text().shows("  1 process with an older version of opq is not counted"))
    update.groups?.otherCount = 2
    update.processes.append(ProcessReport(number: 3, hello: hello))
    dashboard.take(.monitor(.update(update)))
    #expect(
      dashboard.text().shows(
        "  2 more groups, 2 processes with an older version of opq are not counted"))
    dashboard.press("G")
    #expect(dashboard.text().shows("▌ kind 9 "))
  }

  @Test("GR-7: Processes that still count are named below the groups of the others")
  func countingProcessesAreNamed() {
    var dashboard = GroupScene.dashboard(by: .kind)
    var groups = OperationGroups(
      by: .kind, groups: (1...50).map { .init(key: .kind("kind \($0)")) })
    groups.countingProcessCount = 1
    GroupScene.report(groups, &dashboard)
    #expect(dashboard.text().shows("▌ kind 1 "))
    #expect(dashboard.text().shows("  counting the operations of 1 process"))
    dashboard.press("G")
    #expect(dashboard.text().shows("▌ kind 9 "))
    groups.countingProcessCount = 2
    groups.otherCount = 4
    GroupScene.report(groups, &dashboard)
    #expect(dashboard.text().shows("  4 more groups, counting the operations of 2 processes"))
    dashboard.press("p")
    #expect(
      dashboard.text().shows(
        "  4 more groups, the operations of 2 processes were not counted before the pause"))
    dashboard.press("p")
    groups.groups = []
    groups.otherCount = 0
    GroupScene.report(groups, &dashboard)
    #expect(dashboard.text().shows("counting the operations of 2 processes"))
    #expect(!dashboard.text().shows("no operations"))
  }

  @Test("GR-7: If no further updates arrive, the screen says why there are no groups")
  func theEndIsNamed() {
    var dashboard = ViewScene.dashboard()
    dashboard.press("vv")
    dashboard.take(.monitor(.disconnected(reason: "the process does not answer")))
    #expect(dashboard.text().shows("the groups were not counted before the connection was lost"))
    dashboard.take(.monitor(.ended(reason: "the process has exited")))
    #expect(dashboard.text().shows("the groups were not counted before the updates ended"))
  }
}
