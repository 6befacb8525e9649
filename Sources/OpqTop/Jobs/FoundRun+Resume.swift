// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobRun
import MonitorClient
import MonitorProtocol

extension FoundRun {
  /// Finds a run that is resumed.
  ///
  /// - Parameters:
  ///   - word: The id of the run, its first characters, or the path of its directory; `nil` for the newest interrupted
  ///     run or, if there is none, for the newest run.
  ///   - options: The option that selects the place of the runs.
  /// - Throws: The errors of ``init(_:in:)``.
  init(_ word: String?, resumedIn options: RunPlaceOptions) throws {
    var word = word
    if word == nil {
      let runs = try RunCatalog.summaries(in: options.place)
      word = runs.last { $0.state == .interrupted }?.directory.id
    }
    try self.init(word, in: options)
  }

  /// The sentence that names the run that is resumed, and its job file. It has no character that controls a terminal.
  var resumeSentence: String {
    let title = (try? RunRequest.read(directory))?.title
    return "resuming run \(directory.id)" + (title.map { " (\(EscapedText.escaped($0)))" } ?? "")
  }
}
