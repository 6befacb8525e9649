// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobRun
import MonitorProtocol

/// The commands that messages propose for a run.
struct RunWords {
  private let directory: RunDirectory
  /// The words by which other commands find the run, such as `ID --state DIRECTORY`. They are unsanitised.
  let operand: String

  /// Creates the words for a run that is found by its path.
  init(at directory: RunDirectory) {
    self.directory = directory
    operand = directory.path.shellWord
  }

  /// Creates the words for a run that the command line names.
  init(_ found: FoundRun) {
    directory = found.directory
    operand = found.operand
  }

  /// Creates the words for a run.
  ///
  /// - Parameters:
  ///   - directory: The directory of the run.
  ///   - place: The option that selects the place of the runs.
  init(_ directory: RunDirectory, _ place: RunPlaceOptions) {
    self.directory = directory
    let id = directory.id
    if let state = place.state {
      operand = "\(id) --state \(state.shellWord)"
    } else {
      let found = try? RunStore.find(id, in: place.place)
      // Other commands look in the working directory. The run of a job file in another directory needs its path.
      operand = found == directory ? id : directory.path.shellWord
    }
  }

  /// The id of the run.
  var id: String { directory.id }
  /// The command that shows the run while its runner lives. It is unsanitised.
  var attach: String { "opq-top attach --run \(operand)" }
  /// The command that continues the run. It is unsanitised.
  var resume: String { "opq-top run --resume \(operand)" }

  /// The command that lists the runs of the same place. It is unsanitised.
  var list: String {
    // After the id, the words select the place.
    if operand.hasPrefix(id) { return "opq-top runs\(operand.dropFirst(id.count))" }
    let state = RunPath(directory.path)?.state
    return "opq-top runs" + (state.map { " --state \($0.shellWord)" } ?? "")
  }
}
