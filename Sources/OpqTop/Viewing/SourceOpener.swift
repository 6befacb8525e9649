// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import CursesTerminal
import Dashboard
import Dispatch
import MonitorClient
import MonitorProtocol
import Synchronization

/// Finds and opens sources for the user. This is done on other threads than the dashboard's,
/// because finding and opening take time.
package final class SourceOpener: Sendable {
  /// The answer to a request of the dashboard.
  enum Answer: Sendable {
    /// The processes that were found. Each has its greeting, or the reason why it cannot be
    /// watched.
    case found([ProcessChoice])
    /// The reason why the processes of another machine could not be found.
    case findFailed(String)
    /// The new source, which replaces the previous source.
    case opened(WatchedSource)
    /// The reason why the chosen source cannot be watched.
    case failed(String)
  }

  private let waker: Waker
  /// A function that creates, starts and watches the demo.
  private let openDemo: @Sendable () throws -> WatchedSource
  private let isReadOnly: Bool
  private let run: WatchedRun?
  /// The search for processes of another machine; `nil` if the processes of this machine are found.
  private let search: RemoteSearch?
  private let state = Mutex(State())
  /// A group that contains the work of creating and ending demos, which takes time.
  private let busy = DispatchGroup()

  private struct State {
    var answers: [Answer] = []
    /// The sessions with processes that have not answered yet.
    var pending: [RemoteSession] = []
    /// Whether the opener discards further answers.
    var isFinished = false
  }

  /// Creates an opener that has not searched for sources yet.
  ///
  /// - Parameters:
  ///   - waker: The waker to ring when there is an answer.
  ///   - isReadOnly: Whether the viewer sends no commands.
  ///   - openDemo: A function that creates, starts and watches the demo.
  package convenience init(
    waker: Waker, isReadOnly: Bool, openDemo: @escaping @Sendable () throws -> WatchedSource
  ) {
    self.init(waker: waker, isReadOnly: isReadOnly, run: nil, search: nil, openDemo: openDemo)
  }

  /// Creates an opener that has not searched for sources yet.
  ///
  /// - Parameters:
  ///   - waker: The waker to ring when there is an answer.
  ///   - isReadOnly: Whether the viewer sends no commands.
  ///   - run: The run that is watched first, so that it has its jobs again if the user opens its process again; `nil`
  ///     if there is none.
  ///   - search: The search for processes of another machine; `nil` to find the processes of this machine.
  ///   - openDemo: A function that creates, starts and watches the demo.
  init(
    waker: Waker, isReadOnly: Bool, run: WatchedRun?, search: RemoteSearch?,
    openDemo: @escaping @Sendable () throws -> WatchedSource
  ) {
    self.waker = waker
    self.isReadOnly = isReadOnly
    self.run = run
    self.search = search
    self.openDemo = openDemo
  }

  /// Begins to search for processes that can be watched.
  ///
  /// - Parameter isRequested: Whether the user has requested the search.
  func find(isRequested: Bool) {
    search?.begin()
    DispatchQueue.global().async { [self] in
      guard let search else {
        return answer(.found(ProcessFinder.find().map { ProcessChoice($0, id: $0.path) }))
      }
      do {
        answer(.found(try search.find(isRequested: isRequested)))
      } catch {
        answer(.findFailed("\(error)"))
      }
    }
  }

  /// Ends the search for processes, because the picker is closed.
  func endSearch() { search?.end() }

  /// Begins to open a process or the demo.
  func open(_ source: Source) {
    switch source {
    case .process(let id):
      guard let process = located(id) else {
        return answer(.failed("the process is no longer in the list"))
      }
      open(process)
    case .processes(let ids):
      let processes = ids.compactMap { located($0) }
      guard processes.count == ids.count else {
        for process in processes { search?.release(process) }
        return answer(.failed("one of the processes is no longer in the list"))
      }
      open(processes)
    case .recording(let path):
      // The list in which the user chooses a source never offers recordings.
      answer(.failed("to show a recording, use: opq-top replay \(path)"))
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

  /// Returns the process with an id; `nil` if the search for processes has not found it. The caller must release it.
  private func located(_ id: ProcessChoice.ID) -> LocatedProcess? {
    guard let search else { return LocatedProcess(path: id) }
    return search.takeProcess(id)
  }

  /// Begins to open several processes, which are then watched as one. If one of them cannot be watched, none is watched.
  private func open(_ processes: [LocatedProcess]) {
    let sessions = processes.map { process in
      RemoteSession(
        process.address, isReadOnly: isReadOnly,
        mostBytes: OperationLedger.mostBytes / processes.count
      ) { [waker] in waker.ring() }
    }
    state.withLock { $0.pending += sessions }
    let greetings = GroupGreetings(count: sessions.count)
    for session in sessions {
      session.whenGreeted { [self] result in
        guard let outcome = greetings.take(result) else { return }
        state.withLock { state in
          state.pending.removeAll { pending in sessions.contains { $0 === pending } }
        }
        let release: @Sendable () -> Void = { [search] in
          for process in processes { search?.release(process) }
        }
        switch outcome {
        case .success:
          let group = ProcessGroup(sessions, interest: Interest()) { [waker] in waker.ring() }
          answer(.opened(WatchedSource(process: group, run: nil, release: release)))
        case .failure(let error):
          for session in sessions { session.invalidate() }
          release()
          answer(.failed("\(error)"))
        }
      }
    }
  }

  private func open(_ process: LocatedProcess) {
    let session = RemoteSession(process.address, isReadOnly: isReadOnly) { [waker] in waker.ring() }
    state.withLock { $0.pending.append(session) }
    session.whenGreeted { [self] result in
      state.withLock { $0.pending.removeAll { $0 === session } }
      switch result {
      case .success:
        let isRun = process.place == nil && run?.isRunner(at: process.path) == true
        let source = WatchedSource(process: session, run: isRun ? run : nil) { [search] in
          search?.release(process)
        }
        answer(.opened(source))
      case .failure(let error):
        session.invalidate()
        search?.release(process)
        answer(.failed("\(error)"))
      }
    }
  }

  /// Returns the answers since the previous call, and removes them.
  func takeAnswers() -> [Answer] {
    state.withLock { state in
      defer { state.answers = [] }
      return state.answers
    }
  }

  /// Ends a source that is no longer watched, without blocking the caller, because ending a demo
  /// takes time.
  func endLater(_ watched: WatchedSource) {
    DispatchQueue.global().async(group: busy) { watched.end() }
  }

  /// Waits until all work is finished. Then ends the sources that were opened too late to be
  /// watched.
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
  /// Creates an entry of the picker from the greeting of a process, or from the error that
  /// prevented the greeting.
  ///
  /// - Parameters:
  ///   - found: The process.
  ///   - id: The id of the process.
  init(_ found: ProcessFinder.Found, id: ProcessChoice.ID) {
    switch found.answer {
    case .success(let greeting):
      let hello = greeting.hello
      self.init(
        id: id, processID: found.processID, programName: hello.processName,
        uptime: hello.anchor - hello.processStarted, totalCount: hello.totalCount,
        isReadOnly: hello.isReadOnly, versions: "\(greeting.versions)")
    case .failure(let error):
      self.init(
        id: id, processID: found.processID, programName: "", refusal: "\(error)")
    }
  }
}

/// Collects the greetings of several processes that are opened together.
private final class GroupGreetings: Sendable {
  private struct State {
    var hellos: [Hello] = []
    var isOver = false
  }

  private let count: Int
  private let state = Mutex(State())

  /// Creates a collection that waits for this number of greetings.
  init(count: Int) { self.count = count }

  /// Takes the answer of a process. Returns the outcome for all processes after the last greeting or the first error;
  /// otherwise `nil`.
  func take(_ answer: Result<Hello, AttachError>) -> Result<Void, AttachError>? {
    state.withLock { state in
      guard !state.isOver else { return nil }
      switch answer {
      case .failure(let error):
        state.isOver = true
        return .failure(error)
      case .success(let hello):
        // If two sockets belong to the same process, its operations would be shown twice.
        if state.hellos.contains(where: { $0.isSameProcess(as: hello) }) {
          state.isOver = true
          return .failure(AttachError(.lost, "two of the chosen processes are the same process"))
        }
        state.hellos.append(hello)
        state.isOver = state.hellos.count == count
        return state.isOver ? .success(()) : nil
      }
    }
  }
}
