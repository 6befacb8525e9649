// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

/// A dashboard of jobs, and files with the output of one job, which answer the requests of the dashboard as the
/// program's loop does.
struct OutputScene {
  static let id = OperationReport.ID(1042)
  static let name = "download tiles z=14 eu"

  private(set) var dashboard: Dashboard
  /// The output of each attempt. A test can change it at any time.
  var files: [String]
  /// The requests of the dashboard since the last message of the test.
  private(set) var requests: [OutputRequest] = []
  private(set) var searches: [OutputSearch] = []
  /// The number of bytes that a search reads; `nil` if there is no limit.
  var byteLimit: UInt64?

  /// Creates a dashboard in which the job is selected in the list.
  init(_ files: [String], columns: Int = 80, rows: Int = 24) {
    dashboard = Scene.dashboard(
      columns: columns, rows: rows, configuration: .init(title: "jobs.yaml", runsJobs: true))
    self.files = files
    press("1042")
    take(.input(.key(.enter)))
  }

  /// Returns lines with these numbers, such as `line 7`.
  static func lines(_ numbers: Range<Int>) -> String {
    numbers.map { "line \($0)\n" }.joined()
  }

  /// The lines of the output on the screen: the last word of each row.
  var numbers: [Int] {
    dashboard.text().compactMap { row in
      let words = row.drop { $0 == "▌" || $0 == " " }.split(separator: " ")
      return words.first == "line" && words.count == 2 ? Int(words[1]) : nil
    }
  }

  /// The number of the line with the mark of the selected match.
  var selected: Int? {
    let row = dashboard.text().first { $0.hasPrefix("▌") }
    return row?.split(separator: " ").last.flatMap { Int($0) }
  }

  func shows(_ text: String) -> Bool { dashboard.text().shows(text) }

  @discardableResult
  mutating func press(_ keys: String) -> [Effect] {
    keys.unicodeScalars.flatMap { take(.input(.character($0))) }
  }

  @discardableResult
  mutating func press(_ key: Key) -> [Effect] { take(.input(.key(key))) }

  /// Sends a tick, as the loop does before each frame.
  mutating func tick() { take(.tick(dashboard.now)) }

  /// Sends log lines of the job.
  mutating func report(_ log: OperationLog) { LogScene.report(log, to: &dashboard) }

  /// Processes a message, and answers the requests. Returns the other effects.
  @discardableResult
  mutating func take(_ message: Message) -> [Effect] {
    (requests, searches) = ([], [])
    return answer(dashboard.take(message))
  }

  private mutating func answer(_ effects: [Effect]) -> [Effect] {
    var others: [Effect] = []
    for effect in effects {
      switch effect {
      case .readOutput(let request):
        requests.append(request)
        if let page = page(request) { others += answer(dashboard.take(.output(page))) }
      case .searchOutput(let search):
        searches.append(search)
        others += answer(dashboard.take(.outputSearched(result(search))))
      case .send, .watch, .export, .findProcesses, .open, .replay, .quit, .interrupt,
        .suspendProgram, .repaint, .bell, .copy, .saveSettings, .setMouse, .setTheme:
        others.append(effect)
      }
    }
    return others
  }

  /// Returns the answer to a request.
  func page(_ request: OutputRequest) -> OutputPage? {
    guard request.name == Self.name else { return nil }
    let attempt = min(request.attempt ?? files.count, files.count)
    let text = attempt == 0 ? "" : files[attempt - 1]
    let size = UInt64(text.utf8.count)
    let facts = OutputFacts(size: size, attempt: attempt, attemptCount: files.count)
    if facts == request.known { return nil }
    var lines: [OutputPage.Line] = []
    var offset: UInt64 = 0
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) where offset < size {
      lines.append(OutputPage.Line(offset: offset, text: String(line)))
      offset += UInt64(line.utf8.count) + 1
    }
    let place = if case .offset(let offset) = request.position { offset } else { size }
    let middle = lines.lastIndex { $0.offset <= place } ?? 0
    let range =
      max(0, middle - request.lineLimit)..<min(lines.count, middle + request.lineLimit)
    let end = range.upperBound < lines.count ? lines[range.upperBound].offset : size
    return OutputPage(request, facts: facts, lines: Array(lines[range]), end: end)
  }

  private func result(_ search: OutputSearch) -> OutputSearchResult {
    if let byteLimit {
      return OutputSearchResult(search, .limitReached(at: search.start + byteLimit))
    }
    let request = OutputRequest(
      name: search.name, attempt: search.attempt, position: .end, lineLimit: .max / 4)
    let matches = (page(request)?.lines ?? []).filter { $0.text.containsIgnoringCase(search.text) }
    let match =
      search.isForward
      ? matches.first { $0.offset >= search.start } ?? matches.first
      : matches.last { $0.offset < search.start } ?? matches.last
    guard let match else { return OutputSearchResult(search, .notFound) }
    let around = OutputRequest(
      name: search.name, attempt: search.attempt, position: .offset(match.offset),
      lineLimit: search.lineLimit)
    return page(around).map { OutputSearchResult(search, .found(line: match.offset, $0)) }
      ?? OutputSearchResult(search, .notFound)
  }
}

extension OutputScene: CustomTestStringConvertible {
  var testDescription: String { dashboard.text().joined(separator: "\n") }
}
