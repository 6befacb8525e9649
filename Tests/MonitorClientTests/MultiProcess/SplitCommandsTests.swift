// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import MonitorClient

@Suite("Commands to several processes")
struct SplitCommandsTests {
  private typealias ID = OperationReport.ID
  private let scene = MergeScene(count: 3)

  private func answer(
    _ command: MonitorCommand, _ outcomes: [CommandResult.Outcome], dependents: [UInt64] = []
  ) -> CommandResult {
    CommandResult(command: command, outcomes: outcomes, dependents: dependents.map { ID($0) })
  }

  @Test(
    "A selection across processes is one command for each process, and one result")
  func selection() {
    for isReversed in [false, true] {
      var commands = SplitCommands(count: 3)
      let command = MonitorCommand.cancelWithDependents(
        [scene.id(3, 5), scene.id(1, 7), scene.id(3, 6), scene.id(1, 8)])
      let orders = commands.give(command, at: scene.now).orders
      #expect(
        orders == [
          .init(process: 1, command: .cancelWithDependents([ID(7), ID(8)])),
          .init(process: 3, command: .cancelWithDependents([ID(5), ID(6)])),
        ])
      let answers = [
        (1, answer(orders[0].command, [.requested, .denied], dependents: [9])),
        (3, answer(orders[1].command, [.alreadyFinished, .lost], dependents: [2])),
      ]
      let reported = (isReversed ? answers.reversed() : answers).map {
        commands.take($0.1, from: $0.0)
      }
      #expect(reported[0] == nil)
      #expect(reported[1]?.command == command)
      #expect(reported[1]?.outcomes == [.alreadyFinished, .requested, .lost, .denied])
      #expect(reported[1]?.dependents == [scene.id(1, 9), scene.id(3, 2)])
    }
  }

  @Test func aQueueCommandIsSentToItsProcess() {
    var commands = SplitCommands(count: 3)
    let queue = QueueReport.ID(2 << 56 | 4)
    #expect(
      commands.give(.setSuspended(queue, true), at: scene.now).orders
        == [.init(process: 2, command: .setSuspended(.init(4), true))])
    #expect(
      commands.give(.setWidth(queue, 8), at: scene.now).orders
        == [.init(process: 2, command: .setWidth(.init(4), 8))])
    let first = commands.take(answer(.setWidth(.init(4), 8), [.requested]), from: 2)
    #expect(first == answer(.setWidth(queue, 8), [.requested]))
    let second = commands.take(answer(.setSuspended(.init(4), true), [.denied]), from: 2)
    #expect(second == answer(.setSuspended(queue, true), [.denied]))
    for limit in [nil, QueueReport.StartLimit(count: 5, periodSeconds: 1)] {
      let own = MonitorCommand.setStartLimit(.init(4), limit)
      #expect(
        commands.give(.setStartLimit(queue, limit), at: scene.now).orders
          == [.init(process: 2, command: own)])
      #expect(
        commands.take(answer(own, [.requested]), from: 2)
          == answer(.setStartLimit(queue, limit), [.requested]))
    }
  }

  @Test func aPriorityChangeIsSentToEachProcess() {
    var commands = SplitCommands(count: 3)
    let orders = commands.give(
      .changePriority([scene.id(1, 1), scene.id(2, 1)], by: -2), at: scene.now
    ).orders
    #expect(
      orders.map(\.command) == [.changePriority([ID(1)], by: -2), .changePriority([ID(1)], by: -2)])
  }

  @Test("RD-5: Jobs are retried by their processes, whose reasons belong to their outcomes")
  func jobsOfSeveralProcesses() {
    var commands = SplitCommands(count: 3)
    let command = MonitorCommand.retry(
      [scene.id(3, 5), scene.id(1, 7), scene.id(3, 6)], names: ["merge"])
    let orders = commands.give(command, at: scene.now).orders
    #expect(
      orders == [
        .init(process: 1, command: .retry([ID(7)])),
        .init(process: 3, command: .retry([ID(5), ID(6)])),
      ])
    var first = answer(orders[0].command, [.notRetryable])
    first.refusals = [0: "it runs"]
    var third = answer(orders[1].command, [.requested, .notRetryable])
    third.refusals = [1: "it has succeeded"]
    #expect(commands.take(third, from: 3) == nil)
    let result = commands.take(first, from: 1)
    // A name does not say which process has the job.
    #expect(result?.outcomes == [.requested, .notRetryable, .notRetryable, .unknown])
    #expect(result?.refusals == [1: "it runs", 2: "it has succeeded"])
  }

  @Test func operationsOfNoProcessAreUnknownAndNoCommandIsSent() {
    var commands = SplitCommands(count: 2)
    let command = MonitorCommand.cancel([ID(7), scene.id(3, 7)])
    let (orders, result) = commands.give(command, at: scene.now)
    #expect(orders.isEmpty)
    #expect(result == answer(command, [.unknown, .unknown]))
    let mixed = MonitorCommand.cancel([scene.id(3, 7), scene.id(2, 7)])
    #expect(commands.give(mixed, at: scene.now).orders.map(\.process) == [2])
    #expect(
      commands.take(answer(.cancel([ID(7)]), [.requested]), from: 2)
        == answer(mixed, [.unknown, .requested]))
  }

  @Test func theSameCommandGivenTwiceIsAnsweredTwice() {
    var commands = SplitCommands(count: 2)
    let command = MonitorCommand.cancel([scene.id(1, 7)])
    _ = commands.give(command, at: scene.now)
    _ = commands.give(command, at: scene.now)
    let own = MonitorCommand.cancel([ID(7)])
    #expect(commands.take(answer(own, [.requested]), from: 1) == answer(command, [.requested]))
    #expect(commands.take(answer(own, [.requested]), from: 2) == nil)
    #expect(
      commands.take(answer(own, [.alreadyFinished]), from: 1) == answer(command, [.alreadyFinished])
    )
    #expect(commands.take(answer(own, [.requested]), from: 1) == nil)
  }

  @Test func missingOutcomesAreUnknown() {
    var commands = SplitCommands(count: 2)
    let command = MonitorCommand.cancelWithDependents([scene.id(1, 7), scene.id(1, 8)])
    _ = commands.give(command, at: scene.now)
    let own = MonitorCommand.cancelWithDependents([ID(7), ID(8)])
    let foreign = scene.id(2, 9).rawValue
    #expect(
      commands.take(answer(own, [.requested], dependents: [foreign, 3]), from: 1)
        == CommandResult(
          command: command, outcomes: [.requested, .unknown], dependents: [scene.id(1, 3)]))
  }

  @Test func answersOfAllProcessesAreMerged() {
    var scene = MergeScene.heard(2)
    let command = MonitorCommand.cancel([scene.id(1, 7), scene.id(2, 7)])
    #expect(scene.give(command).map(\.process) == [1, 2])
    scene.say(2, .commandResult(answer(.cancel([ID(7)]), [.requested])))
    #expect(scene.results(in: scene.take()).isEmpty)
    // The connection to process 1 is lost before process 1 has answered. The merged result contains
    // the outcome `lost` for the operation of this process.
    scene.say(1, .commandResult(answer(.cancel([ID(7)]), [.lost])))
    #expect(scene.results(in: scene.take()) == [answer(command, [.lost, .requested])])
  }

  // MARK: No answer

  @Test func aStoppedProcessDelaysTheResultOnlyBriefly() {
    var scene = MergeScene.heard(2)
    let command = MonitorCommand.cancel([scene.id(1, 7), scene.id(2, 7)])
    let due = scene.now + SplitCommands.patience
    let orders = scene.give(command)
    #expect(orders.count == 2)
    scene.say(1, .commandResult(answer(.cancel([ID(7)]), [.requested])))
    #expect(scene.results(in: scene.take()).isEmpty)
    #expect(scene.merge.deadline(after: scene.now) == due)
    scene.now = due
    #expect(scene.results(in: scene.take()) == [answer(command, [.requested, .lost])])
    // The result for the process that has not answered in time is reported only once.
    #expect(scene.merge.deadline(after: scene.now) == nil)
    scene.now = due + .seconds(60)
    #expect(scene.take() == [])
    // If the process answers the command after the time limit, its answer is still reported.
    scene.say(2, .commandResult(answer(.cancel([ID(7)]), [.alreadyFinished])))
    #expect(scene.results(in: scene.take()) == [answer(command, [.requested, .alreadyFinished])])
  }

  @Test func aLateLostResultIsNotReportedAgain() {
    var scene = MergeScene.heard(2)
    let command = MonitorCommand.cancel([scene.id(2, 7)])
    _ = scene.give(command)
    scene.now = scene.now + SplitCommands.patience
    #expect(scene.results(in: scene.take()) == [answer(command, [.lost])])
    // The connection is lost after the time limit for the answer of the process. The loss must not
    // cause a second result.
    scene.say(2, .commandResult(answer(.cancel([ID(7)]), [.lost])))
    #expect(scene.take() == [])
  }
}
