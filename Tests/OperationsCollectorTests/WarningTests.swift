// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import MonitorProtocol
import TestSupport
import Testing

@testable import OperationsCore
@testable import OperationsCollector

@Suite struct QueueConditionsTests {
  private let id = QueueReport.ID(1)

  private func moment(_ milliseconds: Int64) -> MonitorTime {
    MonitorTime(nanoseconds: milliseconds * 1_000_000)
  }

  private func queue(
    ready: Int = 0, held: Int = 0, executing: Int = 0, width: Int? = 2
  ) -> QueueReport {
    QueueReport(
      id: id, name: "io",
      counts: StateCounts(ready: ready, held: held, executing: executing, total: ready + executing),
      width: width, isSuspended: held > 0)
  }

  private func kinds(_ conditions: QueueConditions, _ queue: QueueReport, at time: MonitorTime)
    -> [MonitorWarning.Kind]
  {
    conditions.warnings(of: [id: queue], at: time).map(\.kind)
  }

  @Test func aQueueThatHoldsOperationsHasAWarningAfterTenSeconds() {
    var conditions = QueueConditions()
    let queue = queue(ready: 3, held: 3)
    conditions.note([queue], at: moment(0))
    conditions.note([queue], at: moment(5_000))
    #expect(kinds(conditions, queue, at: moment(9_999)).isEmpty)
    #expect(conditions.nextMoment(after: moment(5_000)) == moment(10_000))
    let warnings = conditions.warnings(of: [id: queue], at: moment(10_000))
    #expect(warnings.map(\.kind) == [.suspendedWithReady])
    #expect(warnings.first?.count == 3 && warnings.first?.since == moment(0))
    #expect(conditions.nextMoment(after: moment(10_000)) == nil)
  }

  @Test func anEmptySuspendedQueueHasNoWarning() {
    var conditions = QueueConditions()
    var empty = queue()
    empty.isSuspended = true
    conditions.note([empty], at: moment(0))
    #expect(kinds(conditions, empty, at: moment(60_000)).isEmpty)
  }

  @Test func theTimeRestartsWhenTheQueueIsResumed() {
    var conditions = QueueConditions()
    conditions.note([queue(ready: 3, held: 3)], at: moment(0))
    conditions.note([queue(ready: 3, executing: 2)], at: moment(5_000))
    conditions.note([queue(ready: 3, held: 3)], at: moment(6_000))
    #expect(kinds(conditions, queue(ready: 3, held: 3), at: moment(12_000)).isEmpty)
  }

  @Test(
    "A warning names each queue that starts nothing although it could",
    arguments: [
      (1, 0, 2, true), (1, 1, 2, true), (1, 2, 2, false), (0, 0, 2, false), (5, 3, 2, false),
    ])
  func readyButNotStarted(ready: Int, executing: Int, width: Int, isWarnedOf: Bool) {
    var conditions = QueueConditions()
    let queue = queue(ready: ready, executing: executing, width: width)
    conditions.note([queue], at: moment(0))
    #expect(kinds(conditions, queue, at: moment(199)).isEmpty)
    #expect(
      kinds(conditions, queue, at: moment(200)) == (isWarnedOf ? [.readyButNotStarted] : []))
  }

  @Test func withTheSystemWidthOnlyAQueueThatRunsNothingHasAWarning() {
    for (executing, isWarnedOf) in [(0, true), (1, false)] {
      var conditions = QueueConditions()
      let queue = queue(ready: 4, executing: executing, width: nil)
      conditions.note([queue], at: moment(0))
      #expect(kinds(conditions, queue, at: moment(500)).isEmpty == !isWarnedOf)
    }
  }

  @Test(
    "A queue whose limit of starts is reached has no warning, and one later if it starts nothing then"
  )
  func reachedStartLimit() {
    for mainQueue in [nil, id] {
      var conditions = QueueConditions()
      let queue = queue(ready: 37)
      conditions.noteStartLimit(of: id, isReached: true)
      conditions.note([queue], mainQueue: mainQueue, at: moment(0))
      #expect(kinds(conditions, queue, at: moment(9_000)).isEmpty)
      #expect(conditions.nextMoment(after: moment(0)) == nil)
      conditions.noteStartLimit(of: id, isReached: false)
      conditions.note([queue], mainQueue: mainQueue, at: moment(10_000))
      #expect(kinds(conditions, queue, at: moment(10_199)).isEmpty)
      let kind = mainQueue == nil ? MonitorWarning.Kind.readyButNotStarted : .mainQueueBlocked
      #expect(kinds(conditions, queue, at: moment(10_250)) == [kind])
    }
  }

  @Test func aBlockedMainQueueHasOneWarningAfterAQuarterSecond() {
    var conditions = QueueConditions()
    let queue = queue(ready: 3, width: 1)
    conditions.note([queue], mainQueue: id, at: moment(0))
    #expect(conditions.nextMoment(after: moment(0)) == moment(250))
    #expect(kinds(conditions, queue, at: moment(249)).isEmpty)
    let warnings = conditions.warnings(of: [id: queue], at: moment(250))
    #expect(warnings.map(\.kind) == [.mainQueueBlocked])
    #expect(warnings.first?.count == 3 && warnings.first?.since == moment(0))
  }

  @Test(
    "A main queue that runs something, is suspended or has nothing to do is not blocked",
    arguments: [(1, 0, 1), (3, 3, 0), (0, 0, 0)])
  func mainQueueThatIsNotBlocked(ready: Int, held: Int, executing: Int) {
    var conditions = QueueConditions()
    let queue = queue(ready: ready, held: held, executing: executing, width: 1)
    conditions.note([queue], mainQueue: id, at: moment(0))
    #expect(kinds(conditions, queue, at: moment(9_000)).isEmpty)
  }

  @Test("A queue that is only read between two operations is not stuck", arguments: [false, true])
  func progress(isMain: Bool) {
    var conditions = QueueConditions()
    var queue = queue(ready: 9, width: 1)
    for step in 0..<20 {
      queue.counts.finished = step
      conditions.note([queue], mainQueue: isMain ? id : nil, at: moment(Int64(step) * 100))
      #expect(kinds(conditions, queue, at: moment(Int64(step) * 100)).isEmpty)
    }
    #expect(kinds(conditions, queue, at: moment(2_150)).count == 1)
  }

  @Test func onlyTheMainQueueHasThisWarning() {
    var conditions = QueueConditions()
    let queue = queue(ready: 3, width: 1)
    conditions.note([queue], mainQueue: QueueReport.ID(2), at: moment(0))
    #expect(kinds(conditions, queue, at: moment(9_000)) == [.readyButNotStarted])
  }

  @Test func theMainQueueIsRecognized() {
    let table = CollectorTable()
    let collector = CollectorID()
    let other = OperationQueue(unlistedNamed: "other")
    table.apply(other.takeChanges(for: collector, limit: 0))
    #expect(table.mainQueue == nil)
    table.apply(OperationQueue.main.takeChanges(for: collector, limit: 0))
    #expect(table.mainQueue == QueueReport.ID(OperationQueue.main.id.rawValue))
  }
}

@Suite("Warnings about queues with a limit of starts")
struct StartLimitWarningTests {
  private let watched = WatchedQueue()

  private func warnings() -> [MonitorWarning] {
    watched.read()
    watched.table.noteQueueConditions(at: MonitorTime.now, threads: nil)
    return watched.warnings(of: .readyButNotStarted, at: MonitorTime.now + .seconds(60))
  }

  @Test("QV-15: A queue that waits for its limit of starts has no warning")
  func reached() {
    watched.queue.startLimit = OperationStartLimit(1, per: .seconds(3_600))
    let operations = watched.add(kinds: ["first", "second"])
    operations[0].waitUntilFinished()
    #expect(warnings().isEmpty)
    watched.queue.startLimit = nil
    watched.finishAll()
  }

  @Test(
    "QV-15: A queue that starts nothing has a warning after its reached limit was changed or removed",
    arguments: [10, nil])
  func aReachedLimitThatChanges(count: Int?) {
    let dispatchQueue = DispatchQueue(label: "blocked")
    watched.queue.underlyingQueue = dispatchQueue
    watched.queue.startLimit = OperationStartLimit(1, per: .seconds(3_600))
    let operations = watched.add(kinds: ["first", "second"])
    operations[0].waitUntilFinished()
    #expect(warnings().isEmpty)
    dispatchQueue.suspend()
    watched.queue.startLimit = count.map { OperationStartLimit($0, per: .seconds(3_600)) }
    #expect(warnings().map(\.count) == [1])
    dispatchQueue.resume()
    watched.finishAll()
  }

  @Test("QV-15: A queue that starts nothing has a warning if its limit has starts left")
  func startsLeft() {
    let dispatchQueue = DispatchQueue(label: "blocked")
    dispatchQueue.suspend()
    watched.queue.underlyingQueue = dispatchQueue
    watched.queue.startLimit = OperationStartLimit(3, per: .seconds(3_600))
    watched.add(kinds: ["first", "second"])
    #expect(warnings().map(\.count) == [2])
    dispatchQueue.resume()
    watched.finishAll()
  }
}

@Suite struct DeadlockWatchTests {
  private let cycle = MonitorWarning(kind: .cycle, operations: [.init(1), .init(2)])
  private let neverAdded = MonitorWarning(
    kind: .neverEnqueuedDependency, operations: [.init(3)], awaited: [.init(4)])

  private func moment(_ milliseconds: Int64) -> MonitorTime {
    MonitorTime(nanoseconds: milliseconds * 1_000_000)
  }

  @Test func aSearchRunsASecondAfterAChange() {
    var watch = DeadlockWatch()
    #expect(watch.nextSearch == nil)
    watch.noteChange(at: moment(100))
    watch.noteChange(at: moment(900))
    #expect(watch.nextSearch == moment(1_100))
    _ = watch.take([], cost: .zero, at: moment(1_100))
    #expect(watch.nextSearch == nil)
  }

  @Test func expensiveSearchesRunLessOften() {
    var watch = DeadlockWatch()
    watch.noteChange(at: moment(0))
    _ = watch.take([], cost: .milliseconds(100), at: moment(1_000))
    watch.noteChange(at: moment(1_001))
    #expect(watch.nextSearch == moment(6_000))
  }

  @Test func aCycleIsReportedAtOnce() {
    var watch = DeadlockWatch()
    let isNew = watch.take([cycle], cost: .zero, at: moment(0))
    #expect(isNew && watch.warnings == [cycle])
    let isNewAgain = watch.take([cycle], cost: .zero, at: moment(1_000))
    #expect(!isNewAgain)
    let isGone = watch.take([], cost: .zero, at: moment(2_000))
    #expect(isGone && watch.warnings.isEmpty)
  }

  @Test func anUnenqueuedDependencyIsReportedAtTheSecondSearch() {
    var watch = DeadlockWatch()
    let isNew = watch.take([neverAdded], cost: .zero, at: moment(0))
    #expect(!isNew && watch.warnings.isEmpty)
    // This kind of deadlock is reported only if it is found twice, so the collector searches again
    // after one second although nothing changes.
    #expect(watch.nextSearch == moment(1_000))
    let isNewThen = watch.take([neverAdded], cost: .zero, at: moment(1_000))
    #expect(isNewThen && watch.warnings == [neverAdded])
    #expect(watch.nextSearch == nil)
  }

  @Test func anotherWaitingOperationDoesNotRestartTheWarning() {
    var watch = DeadlockWatch()
    _ = watch.take([neverAdded], cost: .zero, at: moment(0))
    var grown = neverAdded
    grown.operations.append(.init(5))
    grown.count = 1
    let isNew = watch.take([grown], cost: .zero, at: moment(1_000))
    #expect(isNew && watch.warnings == [grown])
  }

  @Test func aDependencyEnqueuedMeanwhileIsNotReported() {
    var watch = DeadlockWatch()
    _ = watch.take([neverAdded], cost: .zero, at: moment(0))
    let isNew = watch.take([], cost: .zero, at: moment(1_000))
    #expect(!isNew && watch.nextSearch == nil)
  }
}

@Suite struct SlotDeadlockTests {
  private let operations = (0..<6).map { _ in Operation() }

  private var ids: [OperationReport.ID] {
    operations.map { OperationReport.ID($0.id.rawValue) }
  }

  /// Returns the warning about operations that hold all slots of a queue.
  ///
  /// - Parameter chains: For each holder, the indices of the operations of its chain. The first
  ///   operations are the holders.
  /// - Returns: The warning.
  private func warning(_ chains: [[Int]]) -> MonitorWarning {
    let queue = QueueReference(OperationQueue(unlistedNamed: "full"))
    let references = operations.map { OperationReference($0) }
    return MonitorWarning(
      .slots(
        chains.indices.map { index in
          OperationDeadlock.SlotHolder(
            operation: references[index], queue: queue, chain: chains[index].map { references[$0] },
            neededQueue: queue)
        }))
  }

  @Test("For each holder of a slot, the warning first names the operation that its code waits for")
  func awaited() {
    let warning = warning([[2, 3], [4]])
    #expect(warning.operations == [ids[0], ids[1]])
    #expect(warning.awaited == [ids[2], ids[4], ids[3]])
  }

  @Test("If two holders of slots wait for the same operation, the warning names it for both")
  func awaitedBySeveral() {
    let warning = warning([[3], [3], [4, 5]])
    #expect(warning.awaited == [ids[3], ids[3], ids[4], ids[5]])
    #expect(warning.distinctAwaited == [ids[3], ids[4], ids[5]])
  }
}

@Suite(.serialized) struct LiveWarningTests {
  @Test func aWarningAboutACycleEndsWhenTheCycleIsBroken() {
    let viewer = Viewer()
    let queue = OperationQueue()
    let first = BlockOperation {}
    let second = BlockOperation {}
    let behind = BlockOperation {}
    first.addDependency(second)
    second.addDependency(first)
    behind.addDependency(first)
    queue.addOperations([first, second, behind], waitUntilFinished: false)
    let members: Set = [
      OperationReport.ID(first.id.rawValue), OperationReport.ID(second.id.rawValue),
    ]
    #expect(
      viewer.waitUntil { viewer in
        viewer.warnings.contains {
          $0.kind == .cycle && Set($0.operations) == members && $0.count == 1
        }
      })
    first.cancel()
    queue.waitUntilAllOperationsAreFinished()
    #expect(
      viewer.waitUntil { viewer in
        !viewer.warnings.contains { $0.kind == .cycle && Set($0.operations) == members }
      })
  }

  @Test func anIgnoredCancellationHasAWarningAfterThreeSeconds() throws {
    let queue = OperationQueue(unlistedNamed: "stubborn")
    let collector = CollectorID()
    MonitorLevel.raise()
    defer { MonitorLevel.lower() }
    queue.core.keepRecords(for: collector, replaces: true) {}
    let gate = Gate()
    let operation = BlockOperation { gate.pass() }
    queue.addOperation(operation)
    gate.waitForArrivals(1)
    let table = CollectorTable()
    table.apply(queue.takeChanges(for: collector, limit: 10))
    #expect(table.warnings(at: MonitorTime.now + .seconds(60)).isEmpty)
    operation.cancel()
    table.beginReading()
    table.apply(queue.takeChanges(for: collector, limit: 10))
    let now = MonitorTime.now
    #expect(table.warnings(at: now).isEmpty)
    let due = try #require(table.nextWarning(after: now))
    #expect(due > now + .seconds(2) && due <= now + .seconds(3))
    #expect(table.warnings(at: due).map(\.kind) == [.cancelNotHonoured])
    gate.open()
    queue.waitUntilAllOperationsAreFinished()
    table.beginReading()
    table.apply(queue.takeChanges(for: collector, limit: 10))
    #expect(table.warnings(at: due).isEmpty)
  }

  @Test func anOperationWithVeryManyDependentsHasAWarning() {
    let queue = OperationQueue(unlistedNamed: "fan")
    queue.isSuspended = true
    let collector = CollectorID()
    MonitorLevel.raise()
    defer { MonitorLevel.lower() }
    queue.core.keepRecords(for: collector, replaces: true) {}
    let hub = BlockOperation {}
    queue.addOperation(hub)
    let table = CollectorTable()
    for isOverTheLimit in [false, true] {
      let count = isOverTheLimit ? 1 : CollectorTable.dependentLimit
      for _ in 0..<count {
        let operation = BlockOperation {}
        operation.addDependency(hub)
        queue.addOperation(operation)
      }
      table.beginReading()
      table.apply(queue.takeChanges(for: collector, limit: .max))
      let kinds = table.warnings(at: MonitorTime.now).map(\.kind)
      #expect(kinds == (isOverTheLimit ? [.fanOut] : []))
    }
    queue.cancelAllOperations()
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }
}
