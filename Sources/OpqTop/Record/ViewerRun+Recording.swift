// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import Dashboard
import MonitorClient
import MonitorProtocol
import OperationsCollector

extension ViewerRun {
  /// Opens the source to record, if the command line requests a recording. The file is created
  /// later, in ``begin(_:)``.
  ///
  /// - Parameters:
  ///   - process: The process; `nil` for a demo in this process.
  ///   - demo: The name of the demo, which the recording has as the name of the process; `nil` if a process is recorded.
  /// - Returns: The recorder; `nil` if the command line requests no recording.
  /// - Throws: ``FileError`` if the file exists, ``AttachError`` or ``SignalRequest``.
  func openRecorder(of process: LocatedProcess?, demo: String? = nil) throws -> Recorder? {
    guard let recording, let file = recording.record else { return nil }
    let recorder = try openedRecorder(of: process, demo: demo)
    try OutputFile.checkAbsence(of: file, replaces: recording.force)
    // The recording continues if the user chooses another source. It is a user of the link until the end of the run.
    links.share(process?.link)
    return recorder
  }

  /// Creates the file of a recording, and begins the recording.
  ///
  /// - Parameter recorder: The recorder; `nil` if the command line requests no recording.
  /// - Throws: ``FileError`` if the file cannot be created.
  func begin(_ recorder: Recorder?) throws(FileError) {
    guard let recording, let file = recording.record else { return }
    try recorder?.begin(into: file, replaces: recording.force)
  }

  /// Opens a source to record.
  ///
  /// - Parameters:
  ///   - process: The process; `nil` for a demo in this process.
  ///   - demo: The name of the demo; `nil` if a process is recorded.
  /// - Returns: The recorder, which has not begun to record.
  /// - Throws: ``AttachError`` or ``SignalRequest``.
  func openedRecorder(of process: LocatedProcess?, demo: String? = nil) throws -> Recorder {
    let interest = Recorder.interest(warningKinds: view.warningKinds)
    let recorder = Recorder(interest, processName: demo) { [waker] in waker.ring() }
    try recorder.open { wake in
      guard let process else {
        return MonitorSession(
          minimumInterval: Recorder.interval, interest: interest, isReadOnly: true, wake: wake)
      }
      let session = RemoteSession(
        process.address, isReadOnly: true, interest: interest, interval: Recorder.interval,
        wake: wake)
      try process.naming { _ = try waitForGreeting(of: session) }
      return session
    }
    return recorder
  }

  /// Records a process without a display. Ends when the process ends or is lost, when a signal
  /// arrives, or after a given time.
  ///
  /// - Returns: How the process must end. A signal that requests the end is not an error.
  func record(
    _ process: LocatedProcess, into file: String, replaces: Bool, for duration: Duration?
  ) throws -> Ending {
    let recorder = try openedRecorder(of: process)
    try recorder.begin(into: file, replaces: replaces)
    return record(with: recorder, into: file, for: duration)
  }

  /// Waits until a recording that has begun ends by itself, a signal requests the end, or a given time is over. Then
  /// completes the recording and reports its size.
  ///
  /// - Returns: How the process must end.
  func record(with recorder: Recorder, into file: String, for duration: Duration?) -> Ending {
    let end = duration.map { MonitorTime.now + $0 }
    while !recorder.outcome.isOver, end.map({ .now < $0 }) ?? true {
      if watch.takeRequest() != nil { break }
      waker.wait(until: end)
    }
    let outcome = recorder.finish()
    if !outcome.isIncomplete {
      let over = outcome.endedReason.map { "; \($0)" } ?? ""
      StandardStream.error.write(
        Program.errorLine("\(file): \(Self.words(outcome))\(over)"))
    }
    return report(outcome, after: .status(0))
  }

  /// Reports why the recording stopped early, unless a signal ends the run.
  func report(_ outcome: Recorder.Outcome?, after ending: Ending) -> Ending {
    guard case .status(let status) = ending, let outcome, let stop = outcome.stop(after: status)
    else { return ending }
    return Program.fail(
      "the recording stopped: \(stop.error); it contains \(Self.words(outcome))",
      status: stop.status)
  }

  private static func words(_ outcome: Recorder.Outcome) -> String {
    "\(TimeText.duration(outcome.length)) of data in \(outcome.updateCount) updates, \(outcome.size) bytes"
  }

  /// Replays a recording.
  ///
  /// - Throws: `TerminalError` if nothing can be shown.
  func replay(_ reader: RecordingReader, of path: String) throws -> Ending {
    if view.batch {
      return ReplayFrames(reader, view.batchOptions, view.warningKinds).print(watch)
    }
    let session = ReplaySession(reader) { [waker] in waker.ring() }
    return try showDashboard(
      of: (WatchedSource(process: session), .recording(path)), demo: DemoChoice())
  }
}

extension Recorder.Outcome {
  /// Returns the error that stopped the recording early, and the exit status of the program for this error.
  ///
  /// - Parameter status: The exit status of the run without the recording.
  /// - Returns: The error and its status; `nil` if there is no error, or if the process was lost and the run has
  ///   already reported this as its own failure.
  func stop(after status: Int32) -> (error: any Error, status: Int32)? {
    if let failure { return (failure, failure.status) }
    guard status == 0, let loss else { return nil }
    return (loss, (loss as? AttachError)?.status ?? 1)
  }
}
