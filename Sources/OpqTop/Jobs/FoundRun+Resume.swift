// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobRun
import MonitorClient

extension FoundRun {
  /// Finds a run that is continued.
  ///
  /// - Parameters:
  ///   - word: The id of the run, its first characters, or the path of its directory; `nil` for the newest run whose jobs
  ///     have not all ended or, if there is none, for the newest run.
  ///   - options: The option that selects the place of the runs.
  /// - Throws: `AttachError` or `RunFailure` if there is no such run.
  init(_ word: String?, resumedIn options: RunPlaceOptions) throws {
    var word = word
    if word == nil {
      let runs = try RunCatalog.summaries(in: options.place)
      word = runs.last { $0.state != .finished }?.directory.id
    }
    try self.init(word, in: options)
  }
}
