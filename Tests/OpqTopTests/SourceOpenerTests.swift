// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import Dashboard
import MonitorProtocol
import MonitorTestSupport
import MonitorClient
import Synchronization
import TestSupport
import Testing

@testable import OpqTop

/// Tests of the end of the program while a process is still being opened.
@Suite(.timeLimit(.minutes(10))) struct SourceOpenerTests {
  /// A source of messages that records whether it was invalidated.
  private final class Source: MonitorSource {
    private let isOver = Mutex(false)

    var isInvalid: Bool { isOver.withLock { $0 } }

    func takeMessages() -> [MonitorMessage] { [] }
    func watch(_ interest: Interest) {}
    func send(_ command: MonitorCommand) {}
    func invalidate() { isOver.withLock { $0 = true } }
  }

  @Test("A demo that is being created at the end is ended afterwards, and awaited")
  func lateDemo() async throws {
    try await onOwnThread {
      let source = Source()
      let begun = Gate()
      let gate = Gate()
      let opener = SourceOpener(waker: try Waker(), isReadOnly: false) {
        begun.open()
        gate.pass()
        return WatchedSource(process: source)
      }
      opener.open(.demo)
      #expect(begun.waitUntilOpen())
      startThread { gate.open() }
      opener.finish()
      #expect(source.isInvalid)
      #expect(opener.takeAnswers().isEmpty)
    }
  }

  @Test("A source that was opened and not used is ended too")
  func answerNotTaken() async throws {
    try await onOwnThread {
      let source = Source()
      let waker = try Waker()
      let opener = SourceOpener(waker: waker, isReadOnly: false) { WatchedSource(process: source) }
      opener.open(.demo)
      waker.wait(until: .now + .seconds(60))
      opener.finish()
      #expect(source.isInvalid)
    }
  }

  /// Returns the next answers of an opener.
  private func answers(_ opener: SourceOpener, _ waker: Waker) -> [SourceOpener.Answer] {
    while true {
      let answers = opener.takeAnswers()
      if !answers.isEmpty { return answers }
      waker.wait(until: .now + .seconds(60))
      waker.answer()
    }
  }

  @Test("CP-4: Several processes are opened as one source after the last greeting")
  func severalProcesses() async throws {
    try await onOwnThread {
      let processes = [try ScriptedProcess(), try ScriptedProcess()]
      let waker = try Waker()
      let opener = SourceOpener(waker: waker, isReadOnly: false) {
        WatchedSource(process: Source())
      }
      opener.open(.processes(processes.map(\.path)))
      let viewers = [
        try processes[0].welcome(ScriptedProcess.hello(startTicks: 5)),
        try processes[1].welcome(ScriptedProcess.hello(startTicks: 6)),
      ]
      guard case .opened(let watched) = answers(opener, waker).first else {
        Issue.record("the processes were not opened")
        return
      }
      var names: [String] = []
      while names.isEmpty {
        waker.wait(until: .now + .seconds(1))
        for case .hello(let hello) in watched.session.takeMessages() {
          names.append(hello.processName)
        }
      }
      #expect(names == ["2 processes"])
      watched.end()
      for viewer in viewers {
        #expect(viewer.receive { if case .bye = $0 { true } else { false } } != nil)
      }
      opener.finish()
    }
  }

  @Test("CP-4: If one of several processes cannot be opened, none is watched")
  func failureOfOne() async throws {
    try await onOwnThread {
      let process = try ScriptedProcess()
      let missing = process.path + ".missing"
      for paths in [[process.path, missing], [missing, process.path]] {
        let waker = try Waker()
        let opener = SourceOpener(waker: waker, isReadOnly: false) {
          WatchedSource(process: Source())
        }
        opener.open(.processes(paths))
        guard case .failed = answers(opener, waker).first else {
          Issue.record("the processes were opened")
          return
        }
        opener.finish()
        #expect(opener.takeAnswers().isEmpty)
      }
    }
  }

  @Test("CP-5: Two sockets of the same process are not opened as two processes")
  func repeatedProcess() async throws {
    try await onOwnThread {
      let processes = [try ScriptedProcess(), try ScriptedProcess()]
      let waker = try Waker()
      let opener = SourceOpener(waker: waker, isReadOnly: false) {
        WatchedSource(process: Source())
      }
      opener.open(.processes(processes.map(\.path)))
      let viewers = [try processes[0].welcome(), try processes[1].welcome()]
      guard case .failed(let reason) = answers(opener, waker).first else {
        Issue.record("the processes were opened")
        return
      }
      #expect(reason == "two of the chosen processes are the same process")
      for viewer in viewers {
        #expect(viewer.receive { if case .bye = $0 { true } else { false } } != nil)
      }
      opener.finish()
    }
  }

  @Test("A process that has not answered yet is disconnected")
  func pendingProcess() async throws {
    try await onOwnThread {
      let process = try ScriptedProcess()
      let opener = SourceOpener(waker: try Waker(), isReadOnly: false) {
        WatchedSource(process: Source())
      }
      opener.open(.process(process.path))
      let viewer = try process.accept()
      #expect(viewer.receive { if case .hello = $0 { true } else { false } } != nil)
      opener.finish()
      // When the opener ends, it sends a farewell without waiting for the greeting of the process,
      // which has a long time limit.
      #expect(viewer.receive { if case .bye = $0 { true } else { false } } != nil)
      #expect(opener.takeAnswers().isEmpty)
    }
  }
}
