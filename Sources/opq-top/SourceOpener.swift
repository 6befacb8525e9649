// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import Dashboard
import Dispatch
import MonitorProtocol
import Synchronization

/// Finds and opens, besides the loop, what the user chooses to watch: both take a while.
final class SourceOpener: Sendable {
  /// What has come of it.
  enum Answer: Sendable {
    /// These processes can be watched, or say why not.
    case found([ProcessChoice])
    /// This is watched from now on, and what was before it no more.
    case opened(Watched)
    /// What was chosen cannot be watched, for this reason.
    case failed(String)
  }

  private let waker: Waker
  /// Makes and starts the demo, and watches it.
  private let openDemo: @Sendable () throws -> Watched
  private let isReadOnly: Bool
  private let answers = Mutex<[Answer]>([])
  private let retired = DispatchGroup()

  /// - Parameters:
  ///   - waker: Rings when there is an answer.
  ///   - isReadOnly: Whether viewers give no commands.
  ///   - openDemo: Makes and starts the demo, and watches it.
  init(
    waker: Waker, isReadOnly: Bool, openDemo: @escaping @Sendable () throws -> Watched
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
      session.whenGreeted { [self] result in
        switch result {
        case .success: answer(.opened(Watched(process: session)))
        case .failure(let error):
          session.invalidate()
          answer(.failed("\(error)"))
        }
      }
    case .demo:
      DispatchQueue.global().async { [self] in
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
    answers.withLock { answers in
      defer { answers = [] }
      return answers
    }
  }

  /// Ends what is watched no more: a demo takes a while to end.
  func retire(_ watched: Watched) {
    DispatchQueue.global().async(group: retired) { watched.end() }
  }

  /// Waits until that is done, and ends what was opened too late to be watched.
  func finish() {
    for case .opened(let watched) in takeAnswers() { watched.end() }
    retired.wait()
  }

  private func answer(_ answer: Answer) {
    answers.withLock { $0.append(answer) }
    waker.ring()
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
