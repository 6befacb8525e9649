// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard

/// The files with the output of a job, one for each attempt.
struct JobOutput: Sendable {
  /// Returns the number of attempts that have started.
  let attemptCount: @Sendable () -> Int
  /// Returns the path of the file of an attempt. The first attempt has the number 1. The file may not exist.
  let path: @Sendable (_ attempt: Int) -> String
}

/// Answers the dashboard's requests for the output of jobs. It opens the file for each answer.
struct OutputReader {
  /// Returns the files of the job with a name; `nil` if there is no such job.
  typealias Jobs = @Sendable (_ name: String) -> JobOutput?

  /// How often a file is read again that has become shorter while it was read.
  private static let mostAttempts = 3

  private let jobs: Jobs
  /// The job of the last answer. Finding a job by its name can take time.
  private var last: (name: String, output: JobOutput)?

  /// Creates a reader of the output of these jobs.
  init(_ jobs: @escaping Jobs) { self.jobs = jobs }

  /// Returns the requested lines; `nil` if they are known, or if there is no such job.
  mutating func page(_ request: OutputRequest) -> OutputPage? {
    guard let output = output(of: request.name) else { return nil }
    let count = output.attemptCount()
    let attempt = min(request.attempt ?? count, count)
    for _ in 0..<Self.mostAttempts {
      var facts = OutputFacts(size: 0, attempt: attempt, attemptCount: count)
      guard attempt > 0, let file = JobOutputFile(path: output.path(attempt)), file.size > 0 else {
        return facts == request.known ? nil : OutputPage(request, facts: facts)
      }
      facts.size = file.size
      if facts == request.known { return nil }
      let read = file.lines(at: request.position, lineLimit: request.lineLimit)
      guard read.size == file.size else { continue }
      return OutputPage(request, facts: facts, lines: read.lines, end: read.end)
    }
    // The file becomes shorter all the time. The next request may succeed.
    return nil
  }

  /// Searches the output of an attempt.
  mutating func search(
    _ search: OutputSearch, byteLimit: UInt64 = OutputSearch.byteLimit
  ) -> OutputSearchResult {
    guard let output = output(of: search.name),
      let file = JobOutputFile(path: output.path(search.attempt))
    else { return OutputSearchResult(search, .notFound) }
    let finding = file.find(
      search.text, from: search.start, isForward: search.isForward, byteLimit: byteLimit,
      readCount: search.readCount)
    switch finding {
    case .notFound: return OutputSearchResult(search, .notFound)
    case .limitReached(let offset): return OutputSearchResult(search, .limitReached(at: offset))
    case .found(let offset):
      let request = OutputRequest(
        name: search.name, attempt: search.attempt, position: .offset(offset),
        lineLimit: search.lineLimit)
      // The line of the match is missing if the file has become shorter.
      guard let page = page(request), let line = page.lines.last(where: { $0.offset <= offset })
      else { return OutputSearchResult(search, .notFound) }
      return OutputSearchResult(search, .found(line: line.offset, page))
    }
  }

  private mutating func output(of name: String) -> JobOutput? {
    if let last, last.name == name { return last.output }
    last = jobs(name).map { (name, $0) }
    return last?.output
  }
}
