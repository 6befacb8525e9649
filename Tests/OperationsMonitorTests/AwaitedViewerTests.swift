// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import MonitorProtocol
import OperationsCore
import TestSupport
import Testing

@testable import MonitorTransport
@testable import OperationsMonitor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("The wait for the viewer that has started the process", .timeLimit(.minutes(5)))
struct AwaitedViewerTests {
  private static func origin(_ process: Int32) -> CommandOrigin {
    CommandOrigin(processID: process, userID: geteuid())
  }

  @Test("The wait ends when the awaited viewer answers, and not when another viewer does")
  func endsWithTheAnswer() throws {
    let awaited = AwaitedViewer(try #require(LaunchingViewer.current))
    let hasReturned = Monitored(false)
    startThread {
      awaited.wait()
      hasReturned.change { $0 = true }
    }
    awaited.noteConnection(Self.origin(1))
    awaited.noteAnswer(Self.origin(1))
    // The viewer has two connections, and the wait ends after both have answered.
    awaited.noteConnection(Self.origin(getpid()))
    awaited.noteConnection(Self.origin(getpid()))
    awaited.noteAnswer(Self.origin(getpid()))
    #expect(!awaited.isReady)
    awaited.noteAnswer(Self.origin(getpid()))
    hasReturned.wait(for: "the end of the wait") { $0 }
    #expect(awaited.isReady)
  }

  @Test("The wait ends after two seconds if the viewer does not answer")
  func silentViewer() throws {
    let awaited = AwaitedViewer(try #require(LaunchingViewer.current))
    awaited.noteConnection(Self.origin(getpid()))
    let start = ContinuousClock.now
    awaited.wait()
    #expect(ContinuousClock.now - start >= .milliseconds(1_900))
  }

  @Test("A later connection of the viewer does not begin the wait again")
  func laterConnection() throws {
    let awaited = AwaitedViewer(try #require(LaunchingViewer.current))
    awaited.noteConnection(Self.origin(getpid()))
    awaited.noteAnswer(Self.origin(getpid()))
    awaited.noteConnection(Self.origin(getpid()))
    #expect(awaited.isReady)
    awaited.noteAnswer(Self.origin(getpid()))
    #expect(awaited.isReady)
  }

  @Test("A process with the id of the viewer that started at another time is not the viewer")
  func staleViewer() throws {
    let current = try #require(LaunchingViewer.current)
    let other = LaunchingViewer(
      processID: getpid(), start: ProcessStart(ticks: current.start.ticks + 1))
    #expect(current.isAlive && !other.isAlive)
    // The awaited viewer never answers, so the wait would last two seconds if the viewer existed.
    let fastest = (1...5).map { _ in
      let start = ContinuousClock.now
      AwaitedViewer(other).wait()
      return ContinuousClock.now - start
    }.min()
    #expect(try #require(fastest) < .seconds(2))
  }

  @Test(
    "The value of the environment variable is read strictly",
    arguments: ["", "-", "1", "1-", "-1", "0-5", "a-5", "1-b", "1-2-3", "99999999999-1"])
  func invalidValues(value: String) {
    #expect(LaunchingViewer(value: value) == nil)
  }

  @Test("The value of the environment variable describes the viewer")
  func entry() throws {
    let viewer = LaunchingViewer(processID: 4_711, start: ProcessStart(ticks: 12))
    #expect(viewer.entry == "OPQ_VIEWER=4711-12")
    #expect(LaunchingViewer(value: "4711-12") == viewer)
  }
}

@Suite("The work before the first queue") struct FirstQueueGateTests {
  private static let patience = DispatchTimeInterval.seconds(Patience.seconds)

  @Test("The work happens once, and other threads wait until it is done")
  func once() {
    let gate = FirstQueueGate()
    let count = Monitored(0)
    let isEntered = Gate()
    let mayEnd = Gate()
    let isReady = Monitored<[Bool]>([])
    startThread {
      let result = gate.pass(patience: Self.patience, mayWait: { true }) {
        isEntered.open()
        mayEnd.pass()
        count.change { $0 += 1 }
      }
      isReady.change { $0.append(result) }
    }
    isEntered.pass()
    let seen = Monitored<[Int]>([])
    for _ in 0..<3 {
      startThread {
        let result = gate.pass(patience: Self.patience, mayWait: { true }) {
          count.change { $0 += 1 }
        }
        let value = count.value
        isReady.change { $0.append(result) }
        seen.change { $0.append(value) }
      }
    }
    mayEnd.open()
    seen.wait(for: "the other threads") { $0.count == 3 }
    isReady.wait(for: "all threads") { $0.count == 4 }
    #expect(seen.value == [1, 1, 1] && isReady.value == [true, true, true, true])
  }

  @Test("A thread that must not wait passes during the work, and later threads still wait")
  func withoutWait() {
    let gate = FirstQueueGate()
    let isReady = Monitored<Bool?>(nil)
    let result = gate.pass(patience: Self.patience, mayWait: { true }) {
      startThread {
        let result = gate.pass(patience: Self.patience, mayWait: { false }) {}
        isReady.change { $0 = result }
      }
      isReady.wait(for: "the other thread") { $0 != nil }
    }
    #expect(result && isReady.value == false)
  }

  @Test("If the work creates a queue itself, it does not wait for itself, and is not done")
  func reentrance() {
    let gate = FirstQueueGate()
    var (isRepeated, isDone) = (false, true)
    let result = gate.pass(patience: Self.patience, mayWait: { true }) {
      isDone = gate.pass(patience: Self.patience, mayWait: { true }) { isRepeated = true }
    }
    #expect(!isRepeated && !isDone && result)
    #expect(gate.pass(patience: Self.patience, mayWait: { true }) { isRepeated = true })
    #expect(!isRepeated)
  }
}

@Suite("The file of a process that records itself") struct OwnRecordingPathTests {
  @Test(
    "The process id replaces each %p in the name, and other characters stay",
    arguments: [
      ("run.opq", "run.opq"), ("run-%p.opq", "run-12.opq"), ("%p%p", "1212"), ("%%p", "%12"),
      ("100%", "100%"), ("%q", "%q"), ("%", "%"), ("", ""),
    ])
  func path(value: String, path: String) {
    #expect(OwnRecording.path(for: value, process: 12) == path)
  }
}
