// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import CursesTerminal
import MonitorClient
import MonitorProtocol

/// A command that sends a question or a request to a process and prints the answer.
protocol InquiryCommand: EndingCommand {
  /// The options for the process and for the format of the answer.
  var options: InquiryOptions { get }
  /// The options for the recording to use instead of a process; `nil` if the command needs a process.
  var source: RecordingSourceOptions? { get }
  /// The options for the place of the runs; `nil` if the command has no such options.
  var runPlace: RunPlaceOptions? { get }
  /// The operations on the command line.
  var operations: [OperationWord] { get }
  /// Returns the question or the request that the command sends to the process.
  ///
  /// - Parameter ids: The ids of ``operations``.
  /// - Returns: The question or the request.
  func inquiry(about ids: [OperationReport.ID]) -> any Inquiry
  /// Answers without a process. It is called if no process is named and none listens.
  ///
  /// - Parameter viewer: The run of the viewer.
  /// - Returns: How the process must end; `nil` if the command needs a process.
  /// - Throws: The error because of which there is no answer.
  func endingWithoutProcess(_ viewer: ViewerRun) throws -> Ending?
  /// Whether the command changes nothing in the process.
  static var isReadOnly: Bool { get }
}

/// The options for a question that can also be answered from a recording.
struct RecordingSourceOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Use the state at the end of a recording instead of a process.", valueName: "file"))
  var recording: String?

  @Option(
    help: ArgumentHelp(
      "With --recording: the time since the beginning of the recording, such as 0, 12.5s, 90m or 2h.",
      valueName: "time"))
  var at: Offset?

  func validate() throws {
    if at != nil, recording == nil { throw ValidationError("--at needs --recording") }
  }
}

/// The options for the process and for the format of the answer.
struct InquiryOptions: ParsableArguments {
  @OptionGroup var target: TargetOptions

  @Flag(help: "Print the answer as one line of JSON.")
  var json = false

  @Flag(help: "Print text with ASCII characters only.")
  var ascii = false

  /// The format of the answer that the command prints.
  var form: InquiryForm { InquiryForm(isJSON: json, isUnicode: !ascii) }
}

extension InquiryCommand {
  var source: RecordingSourceOptions? { nil }

  var runPlace: RunPlaceOptions? { nil }

  var operations: [OperationWord] { [] }

  /// Checks that the options name only one source.
  ///
  /// - Throws: `ValidationError` if the options name both a recording and a process, or a place of runs without a run.
  func checkSource() throws {
    if source?.recording != nil, options.target.isAnyGiven {
      throw ValidationError("--recording cannot be combined with \(TargetOptions.allWords)")
    }
    try runPlace?.check(options.target)
  }

  func endingWithoutProcess(_ viewer: ViewerRun) throws -> Ending? { nil }

  /// Runs the command. Returns how the process must end: with an exit status or by a signal.
  func ending() -> Ending { answer() }

  /// Answers from a recording or a process. Returns how the process must end: with an exit status or by a signal.
  func answer() -> Ending {
    do {
      if let source, let recording = source.recording {
        let reader = try RecordingReader(path: recording)
        let moment = ReplayMoment(reader, at: source.at?.duration)
        let ids = try OperationWord.ids(of: operations, moment.ids)
        return moment.answer(inquiry(about: ids))
      }
      // The run must be created before any other thread: it blocks signals, and threads that are
      // created later inherit the blocked signals.
      let run = try ViewerRun(try ViewOptions.parse([]), takesJobSignals: false)
      defer { run.links.close() }
      let process: LocatedProcess
      if options.target.isAnyGiven {
        process = try options.target.process(runPlace, run)
      } else {
        let found = try run.find(on: nil)
        if found.isEmpty, let ending = try endingWithoutProcess(run) { return ending }
        process = try ViewerRun.only(of: found, on: nil)
      }
      let ids = try OperationWord.ids(of: operations) { names in
        try NameInquiry.parts(of: names).reduce(into: [:]) { ids, part in
          var inquiry = NameInquiry(part)
          let ending = try run.ask(&inquiry, of: process, isReadOnly: Self.isReadOnly)
          if case .signal(let signal) = ending { throw ViewerRun.SignalRequest(signal: signal) }
          ids.merge(try inquiry.ids()) { $1 }
        }
      }
      return try answer(to: inquiry(about: ids), process, run)
    } catch let failure as NameInquiry.Failure {
      return Program.fail("\(failure)", status: 1)
    } catch let request as ViewerRun.SignalRequest {
      return .signal(request.signal)
    } catch {
      return Program.fail(error)
    }
  }

  private func answer(
    to inquiry: some Inquiry, _ process: LocatedProcess, _ run: ViewerRun
  ) throws -> Ending {
    var inquiry = inquiry
    return try run.ask(&inquiry, of: process, isReadOnly: Self.isReadOnly)
  }
}

extension ViewerRun {
  /// Lets a process answer an inquiry.
  ///
  /// - Parameters:
  ///   - inquiry: The inquiry.
  ///   - process: The process.
  ///   - isReadOnly: Whether the inquiry changes nothing in the process.
  /// - Returns: How this process must end.
  /// - Throws: ``AttachError`` if the process cannot be watched, or ``SignalRequest`` if a signal
  ///   arrives before its greeting.
  func ask(
    _ inquiry: inout some Inquiry, of process: LocatedProcess, isReadOnly: Bool
  ) throws -> Ending {
    let session = RemoteSession(
      process.address, isReadOnly: isReadOnly, interest: inquiry.interest
    ) { [waker] in waker.ring() }
    try process.naming { _ = try waitForGreeting(of: session) }
    defer { session.invalidate() }
    return InquiryLoop(source: session, waker: waker, watch: watch).run(&inquiry)
  }
}
