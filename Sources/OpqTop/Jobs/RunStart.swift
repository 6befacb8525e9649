// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import CursesTerminal
import JobRun

/// The start of a runner for a run: in this process, or as a process without a terminal that this process shows.
struct RunStart {
  let directory: RunDirectory
  let words: RunWords
  let display: RunDisplayOptions
  /// The inputs of the run if it is new; `nil` if an earlier runner has begun it.
  var new: RunInputs?
  /// The ids of the jobs that the user wants to retry.
  var retrying: [String] = []

  /// Creates the directory of a new run, and starts it.
  ///
  /// - Parameters:
  ///   - inputs: The inputs of the run.
  ///   - place: The option that selects the place of the run.
  ///   - display: The options for the display.
  /// - Returns: How the process must end.
  static func begin(
    _ inputs: RunInputs, in place: RunPlaceOptions, _ display: RunDisplayOptions
  ) -> Ending {
    do {
      let isDetached = isDetached(display)
      if isDetached { try DetachedRun.check() }
      // The run of the viewer must be created before any other thread: it blocks signals, and threads that are created
      // later inherit the blocked signals. Commands do not inherit them.
      let viewer = try viewer(display, isDetached: isDetached)
      var inputs = inputs
      try inputs.findCluster()
      let directory = try RunStore.create(
        in: place.state == nil ? .beside(file: inputs.request.file) : place.place,
        request: inputs.request, input: inputs.input, plan: inputs.plan)
      let start = RunStart(
        directory: directory, words: RunWords(directory, place), display: display, new: inputs)
      return start.ending(viewer, isDetached: isDetached)
    } catch {
      return Program.fail(error)
    }
  }

  /// Continues a run.
  ///
  /// - Returns: How the process must end.
  func resume() -> Ending {
    do {
      let isDetached = Self.isDetached(display)
      if isDetached { try DetachedRun.check() }
      let viewer = try Self.viewer(display, isDetached: isDetached)
      return ending(viewer, isDetached: isDetached)
    } catch {
      return Program.fail(error)
    }
  }

  private func ending(_ viewer: ViewerRun, isDetached: Bool) -> Ending {
    do {
      return try isDetached
        ? DetachedRun(self, viewer).ending()
        : RunningJobs.run(self, viewer, isDetached: false)
    } catch {
      // Nothing was started.
      discard()
      return Program.fail(error)
    }
  }

  /// Deletes the files of a new run, whose runner has not started, unless another process has begun the run.
  func discard() {
    if new != nil { try? RunStore.delete(directory, onlyIfNew: true) }
  }

  /// Executes the jobs of a run in this process, which another process has started without a terminal.
  ///
  /// - Returns: How the process must end.
  func detachedEnding() -> Ending {
    do {
      let viewer = try ViewerRun(
        display.view, takesJobSignals: false, takesQuitSignal: true)
      // No terminal of this process can be closed, and the jobs have not begun yet.
      viewer.watch.passOn { signal, _ in
        signal == cmonitor_signal_hangup ? .done : .declined
      }
      return try RunningJobs.run(self, viewer, isDetached: true)
    } catch {
      return Program.fail(error)
    }
  }

  /// Returns whether the runner is another process, which continues without the terminal.
  private static func isDetached(_ display: RunDisplayOptions) -> Bool {
    Program.hasTerminal && !display.batch
  }

  private static func viewer(_ display: RunDisplayOptions, isDetached: Bool) throws -> ViewerRun {
    // The dashboard also ends by SIGQUIT in the regular way, and says how to return to the run.
    try ViewerRun(display.view, takesJobSignals: isDetached, takesQuitSignal: true)
  }
}
