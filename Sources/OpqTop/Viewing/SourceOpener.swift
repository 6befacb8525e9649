// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import CursesTerminal
import Dashboard
import Dispatch
import MonitorClient
import MonitorProtocol
import Synchronization

/// Finds and opens, besides the loop, what the user chooses to watch: both take a while.
package final class SourceOpener: Sendable {
  /// What has come of it.
  enum Answer: Sendable {
    /// These processes can be watched, or say why not.
    case found([ProcessChoice])
    /// This is watched from now on, and what was before it no more.
    case opened(WatchedSource)
    /// What was chosen cannot be watched, for this reason.
    case failed(String)
  }

  private let waker: Waker
  /// Makes and starts the demo, and watches it.
  private let openDemo: @Sendable () throws -> WatchedSource
  private let isReadOnly: Bool
  private let state = Mutex(State())
  /// Demos that are being made, or ended: both take a while.
  private let busy = DispatchGroup()

  private struct State {
    var answers: [Answer] = []
    /// The processes that have not answered.
    var pending: [RemoteSession] = []
    /// Whether nobody takes answers any more.
    var isFinished = false
  }

  /// - Parameters:
  ///   - waker: Rings when there is an answer.
  ///   - isReadOnly: Whether viewers give no commands.
  ///   - openDemo: Makes and starts the demo, and watches it.
  package init(
    waker: Waker, isReadOnly: Bool, openDemo: @escaping @Sendable () throws -> WatchedSource
  ) {
    self.waker = waker
    self.isReadOnly = isReadOnly
    self.openDemo = openDemo
  }

  /// Looks for processes.
  func find() {
    DispatchQueue.global().async { [self] in
      answer(.found(ProcessFinder.find().map { ProcessChoice($0) }))
    }
  }

  /// Opens a process or the demo.
  func open(_ source: Source) {
    switch source {
    case .process(let path):
      let session = RemoteSession(path: path, isReadOnly: isReadOnly) { [waker] in waker.ring() }
      state.withLock { $0.pending.append(session) }
      session.whenGreeted { [self] result in
        state.withLock { $0.pending.removeAll { $0 === session } }
        switch result {
        case .success: answer(.opened(WatchedSource(process: session)))
        case .failure(let error):
          session.invalidate()
          answer(.failed("\(error)"))
        }
      }
    case .processes:
      // Nobody chooses them while something is watched.
      answer(.failed("several processes are watched with: opq-top attach PID PID"))
    case .recording(let path):
      // Nobody chooses one while something is watched.
      answer(.failed("\(path) is played with: opq-top replay \(path)"))
    case .demo:
      DispatchQueue.global().async(group: busy) { [self] in
        do {
          answer(.opened(try openDemo()))
        } catch {
          answer(.failed("\(error)"))
        }
      }
    }
  }

  /// What has come since the last call.
  func takeAnswers() -> [Answer] {
    state.withLock { state in
      defer { state.answers = [] }
      return state.answers
    }
  }

  /// Ends what is watched no more: a demo takes a while to end.
  func retire(_ watched: WatchedSource) {
    DispatchQueue.global().async(group: busy) { watched.end() }
  }

  /// Waits until that is done, and ends what was opened too late to be watched, or would be.
  func finish() {
    let (answers, pending) = state.withLock { state in
      state.isFinished = true
      defer { (state.answers, state.pending) = ([], []) }
      return (state.answers, state.pending)
    }
    for session in pending { session.invalidate() }
    for case .opened(let watched) in answers { watched.end() }
    busy.wait()
  }

  private func answer(_ answer: Answer) {
    let isTaken = state.withLock { state in
      if state.isFinished { return false }
      state.answers.append(answer)
      return true
    }
    if isTaken {
      waker.ring()
    } else if case .opened(let watched) = answer {
      watched.end()
    }
  }
}

extension ProcessChoice {
  /// What a process has said of itself.
  init(_ found: ProcessFinder.Found) {
    switch found.answer {
    case .success(let greeting):
      let hello = greeting.hello
      self.init(
        id: found.path, processID: found.processID, programName: hello.processName,
        uptime: hello.anchor - hello.processStarted, totalCount: hello.totalCount,
        isReadOnly: hello.isReadOnly, versions: "\(greeting.versions)")
    case .failure(let error):
      self.init(
        id: found.path, processID: found.processID, programName: "", refusal: "\(error)")
    }
  }
}
