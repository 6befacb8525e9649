// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import Dashboard
import JobRun
import MonitorClient

/// Attaches the viewer to the processes that the command line selects.
struct Attachment {
  /// The processes that the arguments name; empty if the arguments name none.
  let targets: [PlacedTarget]
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
    let isNamed = !targets.isEmpty || options.isAnyGiven
    let found = isNamed ? [] : ProcessFinder.find()
    if !isNamed, found.isEmpty { return noProcess() }
    guard view.batch || Program.hasTerminal else {
      return Program.fail("\(TerminalError(.notATerminal)); use --batch")
    }
    do {
      // The run must be created before any other thread: it blocks signals, and threads that are
      // created later inherit the blocked signals.
      let run = try ViewerRun(view, recording: recording)
      defer { run.links.close() }
      if targets.count > 1 { return try showMultiProcess(run) }
      if !targets.isEmpty { return try show(run.located(targets)[0], run) }
      if options.isGiven { return try show(options.process(runs, run), run) }
      let place = try options.place()
      return try show(place == nil ? found : run.find(on: place), on: place, run)
    } catch let request as ViewerRun.SignalRequest {
      return .signal(request.signal)
    } catch {
      return Program.fail(error)
    }
  }

  private func show(_ process: LocatedProcess, _ run: ViewerRun) throws -> Ending {
    let recorder = try run.openRecorder(of: process)
    let jobs = try watchedRun(of: process)
    var watched = try run.watchProcess(process, run: jobs)
    watched.runsJobsElsewhere = options.run != nil && jobs == nil
    if view.batch { return try run.printFrames(of: watched, recorder: recorder) }
    let ending = try run.showDashboard(
      of: (watched, .process(process.id)), demo: DemoChoice(), recorder: recorder,
      place: process.place)
    guard let jobs else { return ending }
    let isAlive = RunLock.holder(of: jobs.directory) != nil
    return ClosedRun(directory: jobs.directory, words: jobs.words, isUnicode: !view.ascii)
      .ending(after: ending, loss: isAlive ? nil : "")
  }

  /// Returns the run that the options name and a process executes; `nil` if they name none. The files of a run on another
  /// machine cannot be read, so the result is then also `nil`.
  private func watchedRun(of process: LocatedProcess) throws -> WatchedRun? {
    guard let word = options.run, process.place == nil else { return nil }
    let found = try FoundRun(word, in: runs)
    let request = try? RunRequest.read(found.directory)
    return WatchedRun(
      found.directory, title: request?.title ?? "", words: RunWords(found),
      socket: process.path)
  }

  /// Shows all named processes together, or fails if one of them cannot be watched.
  private func showMultiProcess(_ run: ViewerRun) throws -> Ending {
    let processes = try run.located(targets)
    let sessions = try run.watchProcesses(processes, named: targets)
    if view.batch {
      return run.printFrames(of: sessions, namesHost: processes.contains { $0.place != nil })
    }
    // If the processes run on several machines, the picker lists the processes of this machine.
    let place = processes[0].place
    let isOneMachine = processes.allSatisfy { $0.place == place }
    let source = WatchedSource(process: run.group(sessions), run: nil) { [links = run.links] in
      // Processes of the same machine have the same link, which has one user.
      var released: [RelayLink] = []
      for link in processes.compactMap(\.link) where !released.contains(where: { $0 === link }) {
        released.append(link)
        links.release(link)
      }
    }
    return try run.showDashboard(
      of: (source, .processes(processes.map(\.id))),
      demo: DemoChoice(), place: isOneMachine ? place : nil)
  }

  /// Shows the process if only one listens; otherwise offers a list.
  private func show(
    _ found: [ProcessFinder.Found], on place: RemotePlace?, _ run: ViewerRun
  ) throws -> Ending {
    guard found.count > 1 else { return try show(ViewerRun.only(of: found, on: place), run) }
    guard view.batch || recording.record != nil else {
      let link = LocatedProcess(found[0], on: place).link
      return try run.showDashboard(of: nil, demo: DemoChoice(), place: place, link: link)
    }
    return Program.fail(ProcessTable.choiceMessage(found, on: place))
  }
}
