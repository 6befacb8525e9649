// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A request for some lines of the output of a job, which is in a file. A job has one file for each attempt.
public struct OutputRequest: Sendable, Equatable {
  /// The place of the requested lines in the file.
  public enum Position: Sendable, Equatable {
    /// The lines around the one that contains the byte at this offset.
    case offset(UInt64)
    /// The last lines.
    case end
  }

  /// The name of the operation, which is the name of the job.
  public var name: String
  /// The number of the attempt, which is at least 1; `nil` for the latest attempt.
  public var attempt: Int?
  /// The place of the lines.
  public var position: Position
  /// The maximum number of lines before and after the position.
  public var lineLimit: Int
  /// The facts of the page that the dashboard already has for these lines. If they have not changed, no answer is
  /// necessary. `nil` if the dashboard has no such page.
  public var known: OutputFacts?

  /// Creates a request that needs an answer.
  public init(name: String, attempt: Int?, position: Position, lineLimit: Int) {
    self.name = name
    self.attempt = attempt
    self.position = position
    self.lineLimit = lineLimit
  }
}

/// Facts about the output of an attempt.
public struct OutputFacts: Sendable, Equatable {
  /// The size of the file in bytes; 0 if there is no file.
  public var size: UInt64
  /// The number of the attempt, which is at least 1; 0 if the job has not started.
  public var attempt: Int
  /// The number of attempts that have started.
  public var attemptCount: Int

  /// Creates facts.
  public init(size: UInt64, attempt: Int, attemptCount: Int) {
    self.size = size
    self.attempt = attempt
    self.attemptCount = attemptCount
  }
}

/// Some lines of the output of a job, without a gap. The answer to an ``OutputRequest``.
public struct OutputPage: Sendable, Equatable {
  /// A line, or a part of a very long line.
  public struct Line: Sendable, Equatable {
    /// The offset of the first byte in the file.
    public var offset: UInt64
    /// The text without the newline. The text is unsanitised.
    public var text: String

    /// Creates a line.
    public init(offset: UInt64, text: String) {
      self.offset = offset
      self.text = text
    }
  }

  /// The request, without the known facts.
  public var request: OutputRequest
  /// The facts when the lines were read.
  public var facts: OutputFacts
  /// The lines, in the order of the file; empty if the file is empty or does not exist.
  public var lines: [Line]
  /// The offset after the last line and its newline.
  public var end: UInt64

  /// Creates a page. By default, it has no lines.
  public init(
    _ request: OutputRequest, facts: OutputFacts, lines: [Line] = [], end: UInt64 = 0
  ) {
    self.request = request
    self.request.known = nil
    self.facts = facts
    self.lines = lines
    self.end = end
  }

  /// Whether the page begins with the first line of the file.
  var reachesStart: Bool { (lines.first?.offset ?? 0) == 0 }

  /// Whether the page has the last line of the file.
  var reachesEnd: Bool { end >= facts.size }

  /// Returns the offset after the line that begins at an offset.
  func end(ofLine offset: UInt64) -> UInt64 { lines.first { $0.offset > offset }?.offset ?? end }
}

/// A search in the output of an attempt. ASCII letters match in upper and lower case. The search continues at the other
/// end of the file.
public struct OutputSearch: Sendable, Equatable {
  /// The maximum number of bytes that one search reads.
  public static let byteLimit: UInt64 = 128 << 20
  /// The limit in words.
  static let limitWords = "\(byteLimit >> 20) MiB"

  /// The name of the operation, which is the name of the job.
  public var name: String
  /// The number of the attempt.
  public var attempt: Int
  /// The text to find; not empty.
  public var text: String
  /// The offset at which the search starts. A forward search finds the first match at or after the offset. A backward
  /// search finds the last match before it.
  public var start: UInt64
  /// Whether the search reads from the start to the end of the file.
  public var isForward: Bool
  /// The maximum number of lines before and after the match in the answer.
  public var lineLimit: Int
  /// The number of bytes that the search has read in earlier parts. It ends when it has read the whole file.
  public var readCount: UInt64 = 0

  /// Creates a search that has read nothing.
  public init(
    name: String, attempt: Int, text: String, start: UInt64, isForward: Bool, lineLimit: Int
  ) {
    self.name = name
    self.attempt = attempt
    self.text = text
    self.start = start
    self.isForward = isForward
    self.lineLimit = lineLimit
  }
}

/// The answer to an ``OutputSearch``.
public struct OutputSearchResult: Sendable, Equatable {
  /// What the search has found.
  public enum Outcome: Sendable, Equatable {
    /// The line at this offset contains the text. The page has the lines around it.
    case found(line: UInt64, OutputPage)
    /// The file does not contain the text.
    case notFound
    /// The search has read ``OutputSearch/byteLimit`` bytes without a match. It can continue at this offset.
    case limitReached(at: UInt64)
  }

  /// The search.
  public var search: OutputSearch
  /// What the search has found.
  public var outcome: Outcome

  /// Creates an answer.
  public init(_ search: OutputSearch, _ outcome: Outcome) {
    self.search = search
    self.outcome = outcome
  }
}
