// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

/// Tests of the texts that guide a new user, on a screen of 80x24.
@Suite("Guidance")
struct GuidanceTests {
  private typealias ID = OperationReport.ID

  @Test func theFooterNamesTheQueueOfTheKeyS() {
    var dashboard = Scene.dashboard()
    #expect(dashboard.text().last?.contains("S Suspend io") == true)
    dashboard.press("1110")
    dashboard.press(.enter)
    #expect(dashboard.text().last?.contains("S Resume net") == true)
    dashboard.take(.input(.alt("3")))
    #expect(dashboard.text().last?.contains("S Suspend cpu") == true)
    dashboard.press("jj")
    #expect(dashboard.text().last?.contains("S Resume net") == true)
  }

  @Test func theNoticeNamesTheKeysThatResumeASuspendedQueue() {
    let words = "net is suspended with 12 ready operations"
    var dashboard = Scene.dashboard()
    // In 80 columns, there is not enough space for the whole sentence about the suspended queue, so
    // the notice shortens it.
    #expect(
      dashboard.text().shows(
        "! net is suspended (12 ready). Press Tab twice, select net, press S."))
    dashboard.take(.input(.alt("3")))
    #expect(dashboard.text().shows("\(words). Select net, press S."))
    dashboard.press("jj")
    #expect(dashboard.text().shows("\(words). Press S to resume."))
    dashboard.take(.input(.alt("4")))
    dashboard.take(.resized(Size(columns: 120, rows: 40)))
    #expect(dashboard.text().shows("\(words). Press Tab 4 times, select net, press S."))
    let readOnly = Scene.dashboard(configuration: .init(isReadOnly: true))
    #expect(readOnly.text().shows(words) && !readOnly.text().shows("ress S"))
  }

  @Test func theFiltersAreNamedOnANarrowScreen() {
    var dashboard = Scene.dashboard()
    dashboard.press("\\")
    #expect(dashboard.text().shows("class:Merge"))
    dashboard.press("state:exec")
    dashboard.press(.enter)
    dashboard.press("H")
    #expect(dashboard.text().shows("finished hidden, filter: state:exec"))
    dashboard.press("\\ age>1ms")
    dashboard.press(.enter)
    #expect(
      dashboard.text().contains { $0.hasSuffix("finished hidden, filter: state:exec age>1ms") })
    dashboard.press("\\ queue:nothing")
    dashboard.press(.enter)
    #expect(dashboard.text().shows("no operation matches the filter; press \\ to change it"))
    dashboard.press("\\")
    dashboard.take(.input(.control("w")))
    dashboard.press("queue:io")
    dashboard.press(.enter)
    // The dashboard cuts the text of the filter, and two spaces separate the text from the sentence
    // before it.
    #expect(
      dashboard.text().contains { $0.hasSuffix("  finished hidden, filter: state:exec age>1ms …") })
  }

  @Test func theBlockerIsShownEvenIfTheFilterHidesIt() {
    var dashboard = Scene.dashboard()
    dashboard.press("\\state:waiting")
    dashboard.press(.enter)
    dashboard.press("1101")
    dashboard.press(.enter)
    #expect(dashboard.press("b") == [])
    #expect(dashboard.detail?.id == ID(1077))
    #expect(dashboard.text().shows("#1077 resample dem"))
    dashboard.press(.escape)
    #expect(dashboard.list.selection.id == ID(1101))
  }
}
