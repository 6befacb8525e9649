// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCommands
import Testing

@testable import OpqTop

@Suite("Commands for jobs of Slurm") struct SlurmOrderTests {
  private func id(_ number: Int) -> OperationReport.ID { OperationReport.ID(UInt64(number)) }

  /// Jobs: 3 depends on 2, which depends on 1; tasks of the arrays 5 and 6; and 9, which has ended.
  private func picture() -> SlurmPicture {
    var picture = SlurmRows.picture()
    _ = picture.take(
      [
        SlurmRows.row(1, "RUNNING"), SlurmRows.row(2, dependency: "afterok:1(unfulfilled)"),
        SlurmRows.row(3, dependency: "afterok:2(unfulfilled)"),
        SlurmRows.row(5, array: (5, "1-7:3%2")), SlurmRows.row(6, array: (6, "1,2,...")),
        SlurmRows.row(9, "COMPLETED"),
      ], at: SlurmRows.time(1))
    return picture
  }

  private func makeOrder(_ command: MonitorCommand) -> SlurmOrder? {
    SlurmOrder(command, of: picture()) { id in
      [self.id(1): [self.id(2)], self.id(2): [self.id(3)]][id] ?? []
    }
  }

  @Test("SV-8: Each operation has an outcome, and only jobs that have not ended are changed")
  func outcomes() throws {
    let order = try #require(makeOrder(.cancel([id(9), id(1), id(77), id(5), id(6)])))
    #expect(order.jobs == ["1", "5_[1,4,7]"] && order.change == .cancel)
    let result = order.result([.refused("Access/permission denied"), .accepted])
    #expect(result.outcomes == [.alreadyFinished, .refused, .unknown, .requested, .refused])
    #expect(result.refusals[1] == "Slurm says “Access/permission denied”")
    #expect(result.refusals[4] == SlurmOrder.cannotNameTasks)
  }

  @Test("SV-8: Dependents are cancelled before the jobs on which they depend")
  func dependents() throws {
    let order = try #require(makeOrder(.cancelWithDependents([id(1)])))
    #expect(order.jobs == ["2", "3", "1"])
    let result = order.result([.accepted, .refused("no"), .accepted])
    #expect(result.outcomes == [.requested] && result.dependents == [id(2)])
  }

  @Test("SV-8: Without an answer, it is not known what Slurm has done")
  func lost() throws {
    let order = try #require(makeOrder(.setHeld([id(2), id(9)], true)))
    #expect(order.change == .hold && order.jobs == ["2"])
    let result = order.result([.lost])
    #expect(result.outcomes == [.lost, .alreadyFinished])
    #expect(order.result([]).outcomes == [.lost, .alreadyFinished])
  }

  @Test("SV-8: If Slurm answers only for some jobs, the results for the others are lost")
  func partlyLost() throws {
    let order = try #require(makeOrder(.cancel([id(1), id(2), id(3)])))
    let result = order.result([.accepted, .refused("no"), .lost])
    #expect(result.outcomes == [.requested, .refused, .lost])
  }

  @Test("SV-8: Partitions and priorities are not changed")
  func refusals() {
    for command in [
      MonitorCommand.setSuspended(.init(1), true), .setWidth(.init(1), 2),
      .changePriority([id(1)], by: 1), .setStartLimit(.init(1), nil),
    ] {
      #expect(makeOrder(command)?.jobs == nil)
      let result = SlurmOrder.refusal(of: command)
      #expect(result.outcomes == [.refused] && result.refusals[0]?.hasPrefix("opq-top") == true)
    }
    #expect(SlurmOrder.refusal(of: .retry([id(1)])).outcomes == [.notRetryable])
  }

  @Test("SV-8: The same operation twice is one change with two outcomes")
  func repeated() throws {
    let order = try #require(makeOrder(.setHeld([id(2), id(2)], false)))
    #expect(order.jobs == ["2"] && order.change == .release)
    #expect(order.result([.accepted]).outcomes == [.requested, .requested])
  }
}
