// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Scaling", .serialized)
struct ScalingTests {
  /// A dashboard with so many operations, nearly all over, each needing the one before.
  private static func dashboard(count: Int) -> Dashboard {
    var dashboard = Dashboard(configuration: .init())
    _ = dashboard.reduce(.resized(Size(columns: 120, rows: 40)))
    dashboard.update(changed: (1...count).map { report($0, isOver: $0 > 30) })
    return dashboard
  }

  private static func report(_ id: Int, isOver: Bool) -> OperationReport {
    let moment = MonitorTime(nanoseconds: Int64(id))
    return OperationReport(
      id: OperationReport.ID(id), name: "operation \(id)", className: "Block", queue: Scene.cpu,
      state: isOver ? .finished : .executing,
      dependencies: id > 1 ? [OperationReport.ID(id - 1)] : [], added: moment, started: moment,
      finished: isOver ? moment : nil)
  }

  /// The shortest of several runs, which other programs on the machine disturb least.
  private static func shortest(of runs: Int = 7, _ body: () -> Void) -> Duration {
    let clock = ContinuousClock()
    return (0..<runs).map { _ in clock.measure(body) }.min() ?? .zero
  }

  @Test func aPictureCostsTheSameWhateverTheNumberOfOperations() {
    let few = Self.dashboard(count: 200)
    let many = Self.dashboard(count: 20_000)
    let fewTime = Self.shortest { _ = few.picture() }
    let manyTime = Self.shortest { _ = many.picture() }
    #expect(manyTime < fewTime * 3, "\(fewTime) with 200, \(manyTime) with 20,000")
  }

  @Test func anUpdateOfOneCostsFarLessThanAnUpdateOfAll() {
    var dashboard = Self.dashboard(count: 20_000)
    let all = (1...20_000).map { Self.report($0, isOver: $0 > 31) }
    let allTime = Self.shortest(of: 2) { dashboard.update(changed: all) }
    let oneTime = Self.shortest {
      dashboard.update(changed: [Self.report(15, isOver: true)])
      dashboard.update(changed: [Self.report(15, isOver: false)])
    }
    #expect(oneTime < allTime, "\(oneTime) for two of one, \(allTime) for 20,000")
  }
}
