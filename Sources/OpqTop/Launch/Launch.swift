// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import Dashboard
import MonitorClient
import MonitorProtocol
import Synchronization

/// A run that starts a command, and shows or records the first of its processes that listens.
struct Launch {
  /// The use of the command's process.
  enum Use {
    /// The dashboard shows it.
    case dashboard
    /// Batch mode prints frames.
    case batch
    /// It is recorded without a display.
    case record
  }

  /// What the command needs before it is started.
  struct Request {
    /// The program and its arguments.
    let words: [String]
    /// The file for the command's output that the user has named; `nil` if the user has named none.
    let outputPath: String?
    /// Whether existing files are overwritten.
    let replaces: Bool
    let use: Use
  }

  /// The time after which the user is informed that nothing listens, or that the program waits for the command.
  private static let patience = Duration.seconds(2)

  let run: ViewerRun
  let command: LaunchedCommand
  private let search: CommandSearch
  let use: Use

  /// Starts a command. Nothing has been searched yet.
  ///
  /// - Throws: `FileError` if the program cannot be executed, or ``ViewerRun/SignalRequest`` if a signal has arrived
  ///   before.
  init(_ request: Request, output: Int32?, _ run: ViewerRun) throws {
    guard let search = ListenerSearch() else {
      throw FileError("cannot read the start time of this process from /proc")
    }
    self.run = run
    use = request.use
    command = LaunchedCommand(
      request.words, place: request.use == .dashboard ? .ownSession : .ownGroup)
    run.watch.passOn(Self.receiver(of: command, .done))
    // A signal that arrived earlier ends this program, so the command is not started.
    if let signal = run.watch.takeRequest() { throw ViewerRun.SignalRequest(signal: signal) }
    try command.start(
      environment: search.environment(isReadOnly: run.view.isReadOnly), output: output,
      waker: run.waker)
    self.search = CommandSearch(search, waker: run.waker)
  }

  /// Makes the program pass on all signals to the command, as long as the command runs.
  ///
  /// - Parameter handling: What happens with the signals in this program.
  func passOnSignals(_ handling: TerminationWatch.Handling) {
    run.watch.passOn(Self.receiver(of: command, handling))
  }

  private static func receiver(
    of command: LaunchedCommand, _ handling: TerminationWatch.Handling
  ) -> @Sendable (Int32, Bool) -> TerminationWatch.Handling {
    { command.passOn($0, isFromTerminal: $1) ? handling : .declined }
  }

  /// Waits until a process of the command listens, and opens it. If a process has ended before it could be opened,
  /// waits for the next one.
  ///
  /// - Parameter open: A closure that opens the process with the socket at a path.
  /// - Returns: The result of the closure; `nil` if the command has ended and no process listens.
  /// - Throws: `AttachError` if a process cannot be watched.
  func opened<Value>(_ open: (String) throws -> Value) throws -> Value? {
    while let path = socketPath() {
      do {
        return try open(path)
      } catch let error as AttachError where [.lost, .nothingThere].contains(error.kind) {
        search.chooseAgain(after: path)
      }
    }
    return nil
  }

  private func socketPath() -> String? {
    var path: String?
    wait(
      until: {
        path = path ?? search.takeFound()
        return path != nil || command.ending != nil
      },
      saying: """
        waiting for "\(command.name)" (process \(command.processID)) to listen; does it use \
        OperationsMonitor?
        """)
    guard path == nil else { return path }
    // A process that listens may be found at the last moment.
    search.finish()
    return search.takeFound()
  }

  /// Waits until the command has ended, and returns how it ended.
  func commandEnding() -> Ending {
    wait(
      until: { command.ending != nil },
      saying: "waiting for \"\(command.name)\" (process \(command.processID)) to end")
    search.finish()
    return command.ending ?? .status(1)
  }

  /// The sentence about processes of the command that listened and were not watched; `nil` if there are none.
  var remark: String? {
    switch search.releasedCount {
    case 0: nil
    case 1: "1 more process of the command listened; it was not watched"
    case let count: "\(count) more processes of the command listened; they were not watched"
    }
  }

  private func wait(until isDone: () -> Bool, saying sentence: String) {
    var moment: MonitorTime? = .now + Self.patience
    while !isDone() {
      if let due = moment, due <= .now {
        StandardStream.error.write(Program.errorLine(sentence))
        moment = nil
      }
      run.waker.wait(until: moment)
    }
  }
}
