// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import Dashboard
import JobRun
import MonitorClient

/// Attaches the viewer to the processes that the command line selects.
struct Attachment {
  /// The processes that the arguments name; empty if the arguments name none.
  let targets: [AttachTarget]
  let options: TargetOptions
  let runs: RunPlaceOptions
  let view: ViewOptions
  let recording: RecordingOptions

  /// Attaches the viewer and shows the processes. Returns how this process must end: with an exit
  /// status or by a signal.
  ///
  /// - Parameter noProcess: A function that is called if the arguments name no process and no
  ///   process listens.
  /// - Returns: How this process must end.
  func ending(noProcess: () -> Ending) -> Ending {
    let isNamed = !targets.isEmpty || options.isGiven
    let found = isNamed ? [] : ProcessFinder.find()
    if !isNamed, found.isEmpty { return noProcess() }
    guard view.batch || Program.hasTerminal else {
      return Program.fail("\(TerminalError(.notATerminal)); use --batch")
    }
    do {
      // The run must be created before any other thread: it blocks signals, and threads that are
      // created later inherit the blocked signals.
      let run = try ViewerRun(view, recording: recording)
      if !isNamed { return try show(found, run) }
      if targets.count > 1 { return try showMultiProcess(run) }
      return try show(try options.path(targets.first, runs, run), run)
    } catch let request as ViewerRun.SignalRequest {
      return .signal(request.signal)
    } catch {
      return Program.fail(error)
    }
  }

  private func show(_ path: String, _ run: ViewerRun) throws -> Ending {
    let recorder = try run.openRecorder(ofProcessAt: path)
    let jobs = try watchedRun(at: path)
    let watched = try run.watchProcess(at: path, run: jobs)
    if view.batch { return try run.printFrames(of: watched, recorder: recorder) }
    let ending = try run.showDashboard(
      of: (watched, .process(path)), demo: DemoChoice(), recorder: recorder)
    guard let jobs else { return ending }
    let isAlive = RunLock.holder(of: jobs.directory) != nil
    return ClosedRun(directory: jobs.directory, words: jobs.words, isUnicode: !view.ascii)
      .ending(after: ending, loss: isAlive ? nil : "")
  }

  /// Returns the run that the options name, whose runner listens at a path; `nil` if they name none.
  private func watchedRun(at path: String) throws -> WatchedRun? {
    guard let word = options.run else { return nil }
    let found = try FoundRun(word, in: runs)
    let request = try? RunRequest.read(found.directory)
    return WatchedRun(
      found.directory, title: request?.title ?? "", words: RunWords(found), socket: path)
  }

  /// Shows all named processes together, or fails if one of them cannot be watched.
  private func showMultiProcess(_ run: ViewerRun) throws -> Ending {
    let paths = try run.paths(of: targets)
    let sessions = try run.watchProcesses(at: paths, named: targets)
    if view.batch { return run.printFrames(of: sessions) }
    return try run.showDashboard(
      of: (WatchedSource(process: run.group(sessions)), .processes(paths)), demo: DemoChoice())
  }

  /// Shows the process if only one listens; otherwise offers a list.
  private func show(_ found: [ProcessFinder.Found], _ run: ViewerRun) throws -> Ending {
    if let only = found.first, found.count == 1 { return try show(only.path, run) }
    guard view.batch || recording.record != nil else {
      return try run.showDashboard(of: nil, demo: DemoChoice())
    }
    return Program.fail(TargetOptions.choiceMessage(found))
  }
}
