// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Dashboard {
  /// Performs an action of the log screen.
  mutating func perform(_ key: KeyAction.Log) -> [Effect] {
    switch key {
    case .open: return openLog()
    case .openSearch:
      prompts.text = TextPrompt(.logSearch)
      withLogRows { $0.beginSearch(in: $1, height: $2) }
      return []
    case .searchNext: return searchLogAgain(step: 1)
    case .searchPrevious: return searchLogAgain(step: -1)
    case .previousAttempt: return showAttempt(step: -1)
    case .nextAttempt: return showAttempt(step: 1)
    }
  }

  /// Shows the log of the selected operation on its own screen.
  private mutating func openLog() -> [Effect] {
    let closesDetail = detail == nil
    guard let id = selectedOperation else { return refuseWithoutOperation() }
    if closesDetail { detail = DetailState(id: id) }
    let output = jobName(of: id).map { OutputState(name: $0) }
    detail?.log = LogState(closesDetail: closesDetail, output: output)
    if configuration.runsJobsElsewhere, connection.source == configuration.source {
      let host = live.hello.map { String(onHost: $0.host) } ?? ""
      show("the output of jobs is in files\(host); these are the last lines that the monitor has")
    }
    return []
  }

  /// Closes the log screen.
  mutating func closeLog() {
    if detail?.log?.closesDetail == true { detail = nil } else { detail?.log = nil }
  }

  /// Moves the rows of the log screen up by `offset` rows, or down if it is negative.
  mutating func scrollLog(by offset: Int) {
    withLogRows { $0.move(by: offset, in: $1, height: $2) }
  }

  /// Shows the first rows of the log screen, or the last ones.
  mutating func moveLogToEnd(isTop: Bool) {
    guard detail?.log?.output?.shownPage != nil else {
      return scrollLog(by: isTop ? -.max / 2 : .max / 2)
    }
    withLogRows { log, rows, height in
      if isTop { log.moveToStartOfOutput(in: rows, height: height) } else { log.follow() }
    }
  }

  private mutating func searchLogAgain(step: Int) -> [Effect] {
    guard let search = detail?.log?.search else {
      show("no search text; press / to search", isWarning: true)
      return [.bell]
    }
    if let page = detail?.log?.output?.shownPage { return searchOutputAgain(step: step, in: page) }
    var isFound = false
    withLogRows { isFound = $0.searchAgain(step: step, in: $1, height: $2) }
    if isFound { return [] }
    show("no match for \(search)", isWarning: true)
    return [.bell]
  }

  /// Selects the first line that contains the typed text.
  mutating func searchLogAsTyped(_ text: String) -> [Effect] {
    if let page = detail?.log?.output?.shownPage { return searchOutputAsTyped(text, in: page) }
    withLogRows { $0.searchAsTyped(text, in: $1, height: $2) }
    return []
  }

  /// Ends the search prompt of the log screen.
  mutating func endLogSearch(accepts: Bool) { detail?.log?.endSearch(accepts: accepts) }

  /// The number of the selected match and the number of matches on the log screen or, for the output of a job, the
  /// place of the selected match; `nil` if there is no search.
  var logSearchWords: (text: String, isFailure: Bool)? {
    guard let log = detail?.log else { return nil }
    return log.output?.shownPage == nil ? log.searchWords(in: logRows) : log.outputSearchWords
  }

  /// The rows of the log screen.
  var logRows: LogRows {
    if let page = detail?.log?.output?.shownPage { return outputRows(page) }
    let id = detail?.id ?? OperationReport.ID(0)
    return LogRows(
      shown.log(of: id) ?? OperationLog(of: id), of: shown.hello,
      columns: screen.size.columns - LogView.margin,
      glyphs: Glyphs(isUnicode: configuration.isUnicode))
  }

  mutating func withLogRows(_ change: (inout LogState, LogRows, Int) -> Void) {
    guard var log = detail?.log else { return }
    change(&log, logRows, detailHeight)
    detail?.log = log
  }
}
