// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import RunAnalysis

@Suite("The history of a run in a recording") struct RunHistoryTests {
  typealias Scene = RunScene

  @Test("Operations and queues that no longer exist keep their last report")
  func keepsWhatIsGone() throws {
    let done = Scene.report(1, ready: 0, started: 0, finished: 1)
    var first = Scene.update(1)
    first.queues.append(Scene.queue(2))
    var last = Scene.update(3)
    last.removed = [Scene.id(1)]
    let history = try Scene.history([first, Scene.update(2, [done]), last])
    #expect(history.operations[Scene.id(1)] == done)
    #expect(history.name(of: .init(2)) == "queue 2" && history.name(of: .init(3)) == "queue 3")
    #expect((history.start, history.end) == (Scene.time(1), Scene.time(3)))
    #expect(history.fault == nil)
  }

  @Test("A run without a reported end ends at its last report, or with the recording")
  func endsOfRuns() throws {
    let running = { Scene.report($0, ready: 0, started: 1, finished: nil, state: .executing) }
    var second = Scene.update(4)
    second.removed = [Scene.id(1)]
    let history = try Scene.history([
      Scene.update(2, [running(1), running(2)]), second,
      Scene.update(9, [Scene.report(3, ready: 0, started: 5, finished: 6)]),
    ])
    let runs = try [1, 2, 3].map { number in
      try #require(history.operations[Scene.id(number)].flatMap { history.run(of: $0) })
    }
    #expect(runs.map(\.upperBound) == [4, 9, 6].map(Scene.time))
    #expect(runs.map(\.lowerBound) == [1, 1, 5].map(Scene.time))
    #expect(history.run(of: Scene.report(4, ready: 0, started: nil, finished: nil)) == nil)
  }

  @Test("An operation that is missing after a reconnection had ended by then")
  func reconnection() throws {
    var writer = RecordingWriter()
    let running = { Scene.report($0, ready: 0, started: 1, finished: nil, state: .executing) }
    var bytes = writer.add(.hello(Scene.hello))
    bytes += writer.add(.update(Scene.update(2, [running(1), running(2)])))
    bytes += writer.add(.hello(Scene.hello))
    bytes += writer.add(.update(Scene.update(6, [running(2)])))
    bytes += writer.add(.update(Scene.update(8)))
    let history = RunHistory(try Scene.reader(bytes + writer.finish()))
    let ends = [1, 2].map { number in
      history.operations[Scene.id(number)].flatMap { history.run(of: $0) }?.upperBound
    }
    #expect(ends == [Scene.time(6), Scene.time(8)])
  }

  @Test("Operations that were only counted are counted, and earlier ones are not")
  func countsWhatWasNotRecorded() throws {
    var first = Scene.update(1)
    first.queues = [Scene.queue(1, StateCounts(executing: 2, finished: 98, total: 100))]
    first.lostChanges = 50
    var second = Scene.update(2, [Scene.report(1, ready: 1, started: 1, finished: 2)])
    second.queues = [
      Scene.queue(1, StateCounts(finished: 1_000, total: 1_000)),
      Scene.queue(2, StateCounts(finished: 7, total: 7)),
    ]
    second.lostChanges = 750
    let history = try Scene.history([first, second])
    #expect(history.operationCount == 2 + 900 + 7)
    #expect(history.lostChanges == 700)
    #expect(history.samples.map(\.counts.total) == [100, 1_007])
    #expect(history.samples.map(\.time) == [1, 2].map(Scene.time))
  }

  @Test("A warning that continues is one warning; a warning that returns is another")
  func warningSpells() throws {
    func update(_ second: Double, _ kinds: [MonitorWarning.Kind]) -> Update {
      var update = Scene.update(second)
      update.warnings = kinds.map { kind in
        MonitorWarning(kind: kind, operations: [Scene.id(1)], count: Int(second))
      }
      return update
    }
    let history = try Scene.history([
      update(1, [.slow]), update(2, [.slow, .cycle]), update(3, []), update(4, [.slow]),
    ])
    let spells = history.warnings.map { "\($0.warning.kind) \($0.warning.count)" }
    #expect(spells == ["slow 2", "cycle 2", "slow 4"])
    #expect(history.warnings.map(\.first) == [1, 2, 4].map(Scene.time))
    #expect(history.warnings.map(\.last) == [2, 2, 4].map(Scene.time))
  }

  @Test("An operation that existed before recording has waited since its first report")
  func beginsWhereFound() throws {
    func report(_ number: Int, _ state: OperationState) -> OperationReport {
      var report = Scene.report(number, added: nil, ready: nil, started: nil, finished: nil)
      report.state = state
      return report
    }
    var ready = report(1, .finished)
    (ready.started, ready.finished) = (Scene.time(5), Scene.time(6))
    var waiting = report(2, .finished)
    (waiting.becameReady, waiting.started) = (Scene.time(6), Scene.time(6))
    (waiting.finished, waiting.dependencies) = (Scene.time(7), [Scene.id(1)])
    let history = try Scene.history([
      Scene.update(1, [report(1, .ready), report(2, .waiting), report(3, .executing)]),
      Scene.update(8, [ready, waiting]),
    ])
    let (first, second, third) = (
      history.operations[Scene.id(1)], history.operations[Scene.id(2)],
      history.operations[Scene.id(3)]
    )
    #expect((first?.added, first?.becameReady) == (Scene.time(1), Scene.time(1)))
    #expect((second?.added, second?.becameReady) == (Scene.time(1), Scene.time(6)))
    #expect((third?.added, third?.becameReady) == (nil, nil))
    let path = try #require(CriticalPath(to: Scene.id(2), in: history))
    #expect(path.duration == .seconds(6) && path.total(of: .slotWait) == .seconds(4))
  }

  @Test("A finish that was noted after its dependents were ready is moved before that moment")
  func alignsFinishes() throws {
    var cancelled = Scene.report(4, [1], ready: 1.5, started: nil, finished: 2, state: .cancelled)
    cancelled.cancelRequested = Scene.time(1.5)
    let history = try Scene.history([
      Scene.report(1, ready: 0, started: 1, finished: 2.004),
      Scene.report(2, [1], ready: 2.002, started: 2.003, finished: 3),
      Scene.report(3, [1, 2], ready: 3, started: 3, finished: 4), cancelled,
      // #5 became ready 0.5 s before its dependency finished. This is too long to be the delay of a
      // thread, so the finish of the dependency is not corrected.
      Scene.report(5, [3], ready: 3.5, started: 3.5, finished: 4.5),
    ])
    let finishes = (1...5).map { history.operations[Scene.id($0)]?.finished }
    #expect(finishes == [2.002, 3, 4, 2, 4.5].map(Scene.time))
    #expect(CriticalPath(to: Scene.id(3), in: history)?.operations == [1, 2, 3].map(Scene.id))
  }

  @Test("An incomplete recording has its contents, and a note that it is incomplete")
  func incomplete() throws {
    let history = try Scene.history([Scene.update(1), Scene.update(2)], isFinished: false)
    #expect(history.end == Scene.time(2) && history.samples.count == 2)
    #expect(history.fault?.contains("not completed") == true)
  }
}
