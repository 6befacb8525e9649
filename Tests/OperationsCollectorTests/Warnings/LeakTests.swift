// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import OperationsCore
@testable import OperationsCollector

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite struct LeakTests {
  private let watched = WatchedQueue()
  private let start = MonitorTime.now

  /// Attaches a viewer that requests certain kinds of warnings in addition to the kinds that are
  /// requested by default.
  private func want(_ kinds: Set<MonitorWarning.Kind>) {
    var interest = Interest()
    interest.warningKinds.formUnion(kinds)
    watched.table.keepList(for: SessionID(rawValue: 1), interest, at: start)
  }

  private func run(_ operations: [Operation]) {
    watched.queue.addOperations(operations, waitUntilFinished: true)
    watched.finishAll()
    watched.read()
  }

  /// Returns the warnings about leaks that exist a certain time from now. All operations must have
  /// finished before the call.
  private func warnings(after time: Duration) -> [MonitorWarning] {
    let now = MonitorTime.now + time
    _ = watched.table.lookForLeaksIfDue(at: now)
    return watched.warnings(of: .leaking, at: now)
  }

  private func comesTrue(_ predicate: () -> Bool) -> Bool {
    let limit = ContinuousClock.now + .seconds(Patience.seconds)
    while !predicate() {
      if ContinuousClock.now > limit { return false }
      sched_yield()
    }
    return true
  }

  @Test func anOperationKeptForAMinuteAfterItsFinishHasAWarning() {
    want([.leaking])
    weak var probe: BlockOperation?
    // The test repeats the search for leaks, at later times, because a worker may retain a finished
    // operation for a moment.
    var later = Duration.seconds(61)
    do {
      let held = BlockOperation {}
      held.name = "held"
      probe = held
      run([held] + (0..<10).map { _ in BlockOperation {} })
      #expect(warnings(after: .seconds(2)).isEmpty)
      watched.table.prune(now: MonitorTime.now + .seconds(61))
      var found: [MonitorWarning] = []
      let isFound = comesTrue {
        later += .seconds(2)
        found = warnings(after: later)
        return found.first?.count == 1
      }
      #expect(isFound && found.first?.operations == [.init(held)])
      #expect(found.first?.title == "held")
      withExtendedLifetime(held) {}
    }
    #expect(comesTrue { probe == nil }, "the watch holds it")
    let isForgotten = comesTrue {
      later += .seconds(2)
      return warnings(after: later).isEmpty
    }
    #expect(isForgotten)
  }

  @Test func withoutAViewerLeaksAreNotWatched() {
    let held = BlockOperation {}
    want([])
    run([held])
    #expect(watched.table.leakWatch == nil)
    #expect(warnings(after: .seconds(61)).isEmpty)
    want([.leaking])
    #expect(watched.table.leakWatch != nil)
    watched.table.keepLists(of: [])
    #expect(watched.table.leakWatch == nil)
    withExtendedLifetime(held) {}
  }

  @Test func dependenciesOfUnfinishedOperationsAreNotLeaking() {
    want([.leaking])
    let finished = BlockOperation {}
    let waiting = BlockOperation {}
    let between = BlockOperation {}
    between.addDependency(finished)
    waiting.addDependency(between)
    let gate = Gate()
    let other = BlockOperation { gate.pass() }
    waiting.addDependency(other)
    watched.queue.addOperations([finished, between, waiting, other], waitUntilFinished: false)
    between.waitUntilFinished()
    gate.waitForArrivals(1)
    watched.read()
    #expect(watched.table.report(.init(between))?.state == .finished)
    #expect(warnings(after: .seconds(61)).isEmpty)
    gate.open()
    watched.finishAll()
    watched.read()
    // The test retains all four operations. Only `waiting` is reported, because the other three are
    // also retained by an operation that depends on them.
    let leaking = warnings(after: .seconds(63)).first
    #expect(leaking?.operations == [.init(waiting)])
    withExtendedLifetime([finished, between, waiting, other]) {}
  }

  @Test func aLaterDependentAlsoPreventsTheWarning() {
    want([.leaking])
    let finished = BlockOperation {}
    run([finished])
    watched.table.prune(now: MonitorTime.now + .seconds(61))
    #expect(watched.table.report(.init(finished)) == nil)
    let late = BlockOperation {}
    late.addDependency(finished)
    watched.queue.isSuspended = true
    watched.queue.addOperation(late)
    watched.read()
    #expect(warnings(after: .seconds(61)).isEmpty)
    watched.finishAll()
    watched.read()
    #expect(warnings(after: .seconds(63)).first?.operations == [.init(late)])
    withExtendedLifetime([finished, late]) {}
  }

  @Test("A bounded number of finished operations is watched and checked")
  func bounds() {
    want([.leaking])
    var held: [Operation] = []
    for _ in 0..<4 {
      let operations = (0..<3_000).map { _ in BlockOperation {} }
      held += operations
      run(operations)
    }
    var now = MonitorTime.now + .seconds(61)
    for _ in 0..<10 {
      _ = watched.table.lookForLeaksIfDue(at: now)
      now = now + .seconds(1)
    }
    let warning = watched.warnings(of: .leaking, at: now).first
    #expect(warning?.count == LeakWatch.capacity)
    #expect(warning?.operations.count == MonitorWarning.operationLimit)
    held = []
    for _ in 0..<11 {
      _ = watched.table.lookForLeaksIfDue(at: now)
      now = now + .seconds(1)
    }
    // A worker may retain the last operation for a moment, so one leak is allowed.
    #expect((watched.warnings(of: .leaking, at: now).first?.count ?? 0) <= 1)
  }
}
