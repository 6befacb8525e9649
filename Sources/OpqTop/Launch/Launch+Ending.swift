// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import CursesTerminal
import Dashboard
import MonitorClient
import MonitorProtocol

extension Launch {
  /// Starts a command, and shows it in the dashboard or as frames of batch mode. Returns how this process must end:
  /// like the command; with 0 if the user has quit while the command runs.
  static func show(
    _ words: [String], outputPath: String?, _ view: ViewOptions, _ recording: RecordingOptions
  ) -> Ending {
    let request = Request(
      words: words, outputPath: outputPath, replaces: recording.force,
      use: view.batch ? .batch : .dashboard)
    guard view.batch || Program.hasTerminal else {
      return Program.fail("\(TerminalError(.notATerminal)); use --batch")
    }
    do {
      if let file = recording.record { try check(file, outputPath, replaces: recording.force) }
      if !view.batch { try Terminal.check() }
      let run = try ViewerRun(
        view, recording: recording, takesJobSignals: !view.batch, takesQuitSignal: true)
      var output = try CommandOutput(named: outputPath, replaces: recording.force)
      let launch = try started(request, &output, run)
      let ending = launch.shown(output.path)
      return launch.end(after: ending, output)
    } catch {
      return failed(error)
    }
  }

  /// Starts a command, and records it to a file. Returns how this process must end: like the command, or with 1 if
  /// the recording has failed.
  static func record(
    _ words: [String], outputPath: String?, into file: String, replaces: Bool,
    for duration: Duration?
  ) -> Ending {
    let request = Request(words: words, outputPath: outputPath, replaces: replaces, use: .record)
    do {
      try check(file, outputPath, replaces: replaces)
      let run = try ViewerRun(
        try ViewOptions.parse([]), takesJobSignals: false, takesQuitSignal: true)
      guard let outputPath else {
        return try Launch(request, output: nil, run).recorded(file, replaces, duration)
      }
      var output = try CommandOutput(named: outputPath, replaces: replaces)
      return try started(request, &output, run).recorded(file, replaces, duration)
    } catch {
      return failed(error)
    }
  }

  /// Checks, before the command is started, that the recording can be created, and that it is not the file for the
  /// command's output.
  private static func check(
    _ file: String, _ outputPath: String?, replaces: Bool
  ) throws(FileError) {
    if let outputPath, OutputFile.isSameFile(file, outputPath) {
      throw FileError("the recording and the command's output cannot be the same file")
    }
    try OutputFile.checkCreatable(file, replaces: replaces)
  }

  /// Returns how this process must end after an error. If a signal has ended the wait for a process, the signal ends
  /// this process too.
  private static func failed(_ error: any Error) -> Ending {
    if let request = error as? ViewerRun.SignalRequest { return .signal(request.signal) }
    return Program.fail(error)
  }

  private static func started(
    _ request: Request, _ output: inout CommandOutput, _ run: ViewerRun
  ) throws -> Launch {
    do {
      let launch = try Launch(request, output: output.descriptor, run)
      launch.tell(output.replaceExisting())
      return launch
    } catch {
      output.discard()
      throw error
    }
  }

  // MARK: Recording

  private func recorded(_ file: String, _ replaces: Bool, _ duration: Duration?) -> Ending {
    do {
      let recorder = try opened { try run.openedRecorder(of: LocatedProcess(path: $0)) }
      guard let recorder else { return unheard(commandEnding()) }
      try recorder.begin(into: file, replaces: replaces)
      let result = run.record(with: recorder, into: file, for: duration)
      let ending = commandEnding()
      tell(remark)
      return result == .status(0) ? ending : .status(1)
    } catch {
      // The command runs, so this program waits for it. Its own error is the more important one.
      let failure = Self.failed(error)
      _ = commandEnding()
      return failure
    }
  }

  /// Reports that no process of the command has listened.
  private func unheard(_ ending: Ending) -> Ending {
    let sentence = "no process of \"\(command.name)\" listened; does it use OperationsMonitor?"
    _ = Program.fail(sentence)
    return ending == .status(0) ? .status(1) : ending
  }

  // MARK: Showing

  /// The way in which the display of a command ended.
  private enum Display {
    /// No process of the command has listened, and the command has ended.
    case unheard
    /// The command's process cannot be watched. The reason was printed.
    case refused(Ending)
    /// The dashboard or batch mode has ended in this way. The recording has stopped early if there was one and
    /// `isRecordingIncomplete` is `true`.
    case shown(Ending, isRecordingIncomplete: Bool)
  }

  private func shown(_ outputPath: String) -> Display {
    do {
      let sources = try opened { try watched(at: $0) }
      guard let (recorder, watched, path) = sources else { return .unheard }
      let ending: Ending
      if use == .batch {
        ending = try run.printFrames(of: watched, recorder: recorder)
      } else {
        passOnSignals(.requestsEnd)
        defer { passOnSignals(.done) }
        ending = try run.showDashboard(
          of: (watched, .process(path)), demo: DemoChoice(), recorder: recorder,
          launchHint: "the command's output is in \(outputPath)")
      }
      return .shown(ending, isRecordingIncomplete: recorder?.outcome.isIncomplete == true)
    } catch {
      return .refused(Self.failed(error))
    }
  }

  /// Connects to a process for the recording, if there is one, and for the display. The process waits until both
  /// receive all changes.
  private func watched(
    at path: String
  ) throws -> (recorder: Recorder?, watched: WatchedSource, path: String) {
    let process = LocatedProcess(path: path)
    let session = run.makeSession(with: process, isHeld: true)
    let watched = try run.greeted(by: session)
    do {
      let recorder = try run.openRecorder(of: process)
      session.start()
      return (recorder, watched, path)
    } catch {
      watched.end()
      throw error
    }
  }

  /// Ends the run after the display: waits for the command if it must, and prints its output.
  private func end(after display: Display, _ output: borrowing CommandOutput) -> Ending {
    // In batch mode, the status 1 means that the watched process has ended. In the dashboard, a signal was passed on
    // to the command, and the program waits for the result.
    if case .shown(let shown, _) = display, command.ending == nil,
      use == .dashboard ? run.watch.takeRequest() == nil : shown == .status(0)
    {
      tell("process \(command.processID) continues; its output goes to \(output.path)")
      return shown
    }
    let ending = commandEnding()
    // Frames of batch mode are on standard output, and programs read them.
    let (remainder, isPrinted) = output.printContents(on: use == .batch ? .error : .output)
    tell(remainder)
    tell(remark)
    switch display {
    case .unheard: return unheard(ending)
    case .refused(let failure): return ending == .status(0) ? failure : ending
    case .shown(let shown, let isRecordingIncomplete):
      // In the dashboard, the status 1 means that the terminal was lost.
      let hasFailed =
        isRecordingIncomplete || !isPrinted || use == .dashboard && shown == .status(1)
      return hasFailed ? .status(1) : ending
    }
  }

  private func tell(_ sentence: String?) {
    if let sentence { StandardStream.error.write(Program.errorLine(sentence)) }
  }
}
