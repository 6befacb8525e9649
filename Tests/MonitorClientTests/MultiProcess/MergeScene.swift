// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

@testable import MonitorClient

/// Several imaginary processes whose reports a viewer merges. A test determines what they report.
struct MergeScene {
  var merge: ProcessMerge
  /// The present time on the viewer's clock.
  var now = MonitorTime(nanoseconds: 1_000_000_000_000)
  private let count: Int

  /// Creates a number of processes that have not yet sent a greeting.
  init(count: Int) {
    self.count = count
    merge = ProcessMerge(
      count: count, interest: Interest(), bootID: "this boot", secondsSince1970AtZero: 42_200)
  }

  /// Returns processes that have sent a greeting and an empty state. The viewer has received both
  /// messages.
  static func heard(_ count: Int) -> MergeScene {
    var scene = MergeScene(count: count)
    for number in 1...count {
      scene.greet(number)
      scene.report(number, [])
    }
    _ = scene.take()
    return scene
  }

  /// An interest in all operations, in 100 events and in a timeline of 60 s.
  static var everything: Interest {
    var interest = Interest.everything
    interest.eventLimit = 100
    interest.timeline = Interest.Timeline(window: .seconds(60), limit: 100)
    return interest
  }

  /// Returns the update of a process that has these operations in its only queue.
  static func update(
    _ operations: [OperationReport], of total: Int? = nil,
    at time: MonitorTime = MonitorTime(nanoseconds: 1_000_000_000_000)
  ) -> Update {
    let total = total ?? operations.count
    return Update(
      time: time,
      queues: [QueueReport(id: .init(1), name: "work", counts: StateCounts(total: total))],
      changed: operations, matchCount: total, keptCount: total)
  }

  /// Returns the id of an operation of the process with the number `number`. `id` is the
  /// operation's id within the process.
  func id(_ number: Int, _ id: UInt64) -> OperationReport.ID {
    OperationReport.ID(UInt64(number) << 56 | id)
  }

  mutating func say(_ number: Int, _ message: MonitorMessage) {
    merge.take(message, from: number, at: now)
  }

  mutating func greet(
    _ number: Int, isReadOnly: Bool = false, bootID: String = "this boot",
    clockLead: Duration = .zero, secondsSince1970: Double = 43_200, canRetry: Bool = false
  ) {
    var hello = Hello(
      processName: "worker", processID: Int32(4_710 + number), isReadOnly: isReadOnly,
      anchor: now + clockLead, anchorSecondsSince1970: secondsSince1970,
      processStarted: now + clockLead - .seconds(60))
    hello.bootID = bootID
    hello.canRetry = canRetry
    say(number, .hello(hello))
  }

  /// Makes a process report these operations, in addition to those that it has reported before.
  mutating func report(
    _ number: Int, _ operations: [OperationReport], removed: [UInt64] = [], lostChanges: UInt64 = 0
  ) {
    var update = Self.update(operations, at: now)
    update.removed = removed.map { OperationReport.ID($0) }
    update.lostChanges = lostChanges
    say(number, .update(update))
  }

  mutating func give(_ command: MonitorCommand) -> [SplitCommands.Order] {
    merge.give(command, at: now)
  }

  mutating func take() -> [MonitorMessage] { merge.takeMessages(at: now) }

  func hello(in messages: [MonitorMessage]) -> Hello? {
    messages.lazy.compactMap { if case .hello(let hello) = $0 { hello } else { nil } }.first
  }

  func updates(in messages: [MonitorMessage]) -> [Update] {
    messages.compactMap { if case .update(let update) = $0 { update } else { nil } }
  }

  func results(in messages: [MonitorMessage]) -> [CommandResult] {
    messages.compactMap { if case .commandResult(let result) = $0 { result } else { nil } }
  }
}

extension OperationReport {
  static func executing(_ id: UInt64) -> OperationReport {
    OperationReport(
      id: .init(id), name: "job \(id)", className: "Job", queue: .init(1), state: .executing)
  }

  static func waiting(_ id: UInt64, for other: UInt64) -> OperationReport {
    OperationReport(
      id: .init(id), name: "job \(id)", className: "Job", queue: .init(1), state: .waiting,
      dependencies: [.init(other)], unmetDependencyCount: 1)
  }
}
