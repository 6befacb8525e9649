// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Exporting the shown operations")
struct ExportTests {
  private typealias ID = OperationReport.ID

  private func exported(_ dashboard: inout Dashboard) throws -> MonitorProtocol.BatchFrame {
    let effects = dashboard.press("e")
    #expect(effects.count == 1)
    guard case .export(let frame) = effects.first else {
      throw Failure(effects: "\(effects)")
    }
    return frame
  }

  private struct Failure: Error { let effects: String }

  @Test func theListExportsItsRows() throws {
    var dashboard = Scene.dashboard()
    dashboard.press("\\upload state:held")
    dashboard.press(.enter)
    let frame = try exported(&dashboard)
    #expect(frame.operations.map(\.id) == [ID(1110), ID(1111)])
    #expect(frame.schema == "opq.frame/1")
    #expect(frame.time.wallClock == "1970-01-01T12:04:31.000Z")
    #expect(frame.process.pid == 4711)
    // The exported counts include all operations, even if the list does not show them.
    #expect(frame.counts == dashboard.live.counts)
    #expect(frame.queues == Scene.queues)
  }

  @Test func warningsAreExported() throws {
    var dashboard = Scene.dashboard()
    var update = Scene.update
    update.warnings = [MonitorWarning(kind: .fanOut, operations: [ID(1042)], count: 20_000)]
    dashboard.take(.monitor(.update(update)))
    #expect(try exported(&dashboard).warnings.map(\.kind) == [.fanOut])
  }

  @Test func theTreeExportsFoldedAndUnfoldedRows() throws {
    var dashboard = Scene.dashboard()
    dashboard.press("1190")
    dashboard.press(.enter)
    dashboard.press("d*")
    let ids = try exported(&dashboard).operations.map(\.id)
    let numbers =
      [1035, 1036, 1077, 1078, 1079, 1099, 1101, 1110, 1111, 1190] + Array(1122...1139)
      + Array(1015...1024)
    #expect(ids == numbers.sorted().map { ID($0) })
    dashboard.press("D")
    #expect(try exported(&dashboard).operations.map(\.id) == [ID(1190), ID(1200)])
  }

  @Test(
    "Views without their own operations export all known operations", arguments: "345".map(\.self))
  func otherViewsExportEverything(digit: Character) throws {
    var dashboard = Scene.dashboard()
    dashboard.press("H")
    for scalar in digit.unicodeScalars { dashboard.take(.input(.alt(scalar))) }
    #expect(try exported(&dashboard).operations.count == dashboard.live.operations.count)
  }

  @Test func theDetailExportsItsOperationAlone() throws {
    var dashboard = Scene.dashboard()
    dashboard.press("1180")
    dashboard.press(.enter)
    dashboard.press(.enter)
    #expect(dashboard.keyContext == .detail)
    #expect(try exported(&dashboard).operations.map(\.id) == [ID(1180)])
  }

  @Test func aPausedDashboardExportsThePausedPicture() throws {
    var dashboard = Scene.dashboard()
    dashboard.press("p")
    let before = try exported(&dashboard)
    dashboard.update(removed: [ID(1042)], at: Scene.now + .seconds(9))
    #expect(try exported(&dashboard) == before)
    #expect(before.operations.contains { $0.id == ID(1042) })
  }

  @Test func readOnlyRefusesNoExport() throws {
    var dashboard = Scene.dashboard(configuration: .init(isReadOnly: true))
    #expect(try exported(&dashboard).operations.count == dashboard.list.rows.count)
  }

  @Test func nothingIsExportedBeforeAnythingIsKnown() {
    var dashboard = Dashboard(configuration: .init())
    #expect(dashboard.press("e") == [.bell])
  }

  @Test(
    "The result of the export is shown for five seconds",
    arguments: [
      (
        ExportResult.written(operationCount: 1_500, fileName: "x.json"),
        "exported 1,500 operations to x.json"
      ),
      (.written(operationCount: 1, fileName: "x.json"), "exported 1 operation to x.json"),
      (.failed(reason: "the disk is full"), "not exported: the disk is full"),
    ])
  func theResultIsSaid(result: ExportResult, sentence: String) {
    var dashboard = Scene.dashboard()
    dashboard.take(.exported(result))
    #expect(dashboard.text().shows(sentence))
    dashboard.take(.tick(Scene.now + .seconds(5)))
    #expect(!dashboard.text().shows(sentence))
  }
}
