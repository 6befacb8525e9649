// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// The output of a job on the log screen. The program's loop reads the file, and the dashboard has only some lines
// around those on the screen.

extension Dashboard {
  /// Returns the name of the job whose output the program's loop can read; `nil` if the source has no jobs, or if the
  /// operation is not known.
  func jobName(of id: OperationReport.ID) -> String? {
    guard showsJobs else { return nil }
    return shown.operations[id].flatMap { $0.name.isEmpty ? nil : $0.name }
  }

  /// Returns the rows of lines of the output.
  func outputRows(_ page: OutputPage) -> LogRows {
    LogRows(
      page, columns: screen.size.columns - LogView.margin,
      glyphs: Glyphs(isUnicode: configuration.isUnicode))
  }

  /// Returns the effect that requests the lines that the log screen needs after a message and its effects.
  ///
  /// After each tick, the file may have grown. A frame follows a tick, so the file is not read more often than the
  /// screen is drawn, except for keys.
  func outputReads(after message: Message, _ effects: [Effect]) -> [Effect] {
    guard let log = detail?.log, let output = log.output else { return [] }
    // An answer never causes a request, so that requests end. The answer to a search has the lines around the match.
    switch message {
    case .output, .outputSearched: return []
    case .monitor, .input, .tick, .resized, .exported, .found, .findFailed, .opened, .openFailed,
      .replay, .jobsEnded, .recordingFailed, .settingsSaved:
      break
    }
    if effects.contains(where: \.searchesOutput) { return [] }
    var mayHaveChanged = output.shownPage == nil
    if case .tick = message { mayHaveChanged = mayHaveChanged || paused == nil }
    let request = log.request(
      unlessEnoughIn: mayHaveChanged ? nil : logRows, height: detailHeight)
    return request.map { [.readOutput($0)] } ?? []
  }

  /// Processes lines of the output.
  mutating func take(_ page: OutputPage) { detail?.log?.take(page) }

  /// Processes the answer to a search in the output.
  mutating func take(_ result: OutputSearchResult) -> [Effect] {
    guard var log = detail?.log else { return [] }
    let isUsed = log.take(result, height: detailHeight) { outputRows($0) }
    detail?.log = log
    // While the user types, the prompt says that there is no match.
    guard isUsed, prompts.text == nil else { return [] }
    switch result.outcome {
    case .found: return []
    case .notFound: show("no match for \(result.search.text)", isWarning: true)
    case .limitReached:
      let key = result.search.isForward ? "n" : "N"
      show(
        "no match in \(OutputSearch.limitWords); press \(key) to search the next part",
        isWarning: true)
    }
    return [.bell]
  }

  // MARK: Keys

  /// Searches from the first line that was on the screen.
  mutating func searchOutputAsTyped(_ text: String, in page: OutputPage) -> [Effect] {
    var start: UInt64 = 0
    withLogRows { log, _, _ in start = log.type(text) }
    return text.isEmpty ? [] : [search(text, from: start, isForward: true, in: page)]
  }

  /// Searches after or before the line with the selected match or, if there is none, from the first line on the screen.
  mutating func searchOutputAgain(step: Int, in page: OutputPage) -> [Effect] {
    guard let log = detail?.log, let output = log.output, let text = log.search else { return [] }
    let isForward = step > 0
    if let unfinished = output.found.unfinished, unfinished.isForward == isForward {
      return [.searchOutput(unfinished)]
    }
    let rows = logRows
    let top = log.visible(in: rows, height: detailHeight).first.map { rows.rows[$0].place.line }
    let next = isForward ? output.found.matchEnd ?? log.match : log.match
    return [search(text, from: next ?? top ?? 0, isForward: isForward, in: page)]
  }

  private func search(
    _ text: String, from start: UInt64, isForward: Bool, in page: OutputPage
  ) -> Effect {
    .searchOutput(
      OutputSearch(
        name: page.request.name, attempt: page.facts.attempt, text: text, start: start,
        isForward: isForward, lineLimit: 3 * detailHeight))
  }

  /// Shows the output of the next attempt, or of the previous one if `step` is negative.
  mutating func showAttempt(step: Int) -> [Effect] {
    let facts = detail?.log?.output?.page?.facts
    let attempt = (facts?.attempt ?? 0) + step
    guard let facts, (1...max(1, facts.attemptCount)).contains(attempt), facts.attemptCount > 0
    else {
      show("there is no \(step > 0 ? "later" : "earlier") attempt", isWarning: true)
      return [.bell]
    }
    detail?.log?.show(attempt: attempt == facts.attemptCount ? nil : attempt)
    return []
  }
}

extension Effect {
  /// Whether the effect is a search in the output of a job.
  fileprivate var searchesOutput: Bool {
    if case .searchOutput = self { true } else { false }
  }
}
