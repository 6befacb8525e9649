// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Merges the matches that several processes find for one search of the viewer.
///
/// Each process searches its own operations. A process that does not answer delays the matches of the others
/// only briefly: a stopped process cannot answer, and a process with an earlier version of the protocol never
/// does.
struct MergedSearch {
  /// The answer of one process.
  enum Answer: Equatable {
    /// The process has sent its matches.
    case found(SearchMatches)
    /// The process has not sent its matches.
    case missing
    /// The process is silent, or the connection to it is lost.
    case unreachable
    /// The process has ended, so its operations can no longer be found.
    case ended
  }

  /// The maximum time for which the matches of a search wait for a process.
  static let patience = Duration.seconds(1)

  /// The search of the viewer; `nil` if the viewer does not search.
  private var search: Interest.Search?
  /// The time until which the matches wait for processes that have not answered; `nil` if they do not wait.
  private(set) var deadline: MonitorTime?
  /// The numbers of the processes that have not answered in time. A search does not wait for these processes
  /// until they answer again.
  private var late: Set<Int> = []

  /// Begins another search of the viewer.
  mutating func begin(_ new: Interest.Search?, at now: MonitorTime) {
    guard new != search else { return }
    search = new
    deadline = new.map { _ in now + Self.patience }
  }

  /// Notes which processes have answered. `answers` contains the answers in the order of the process numbers.
  ///
  /// - Returns: Whether the time to wait for processes has ended. The matches may have changed then.
  mutating func note(_ answers: [Answer], at now: MonitorTime) -> Bool {
    let isDue = deadline.map { $0 <= now } ?? false
    if isDue || !answers.contains(.missing) { deadline = nil }
    for (index, answer) in answers.enumerated() {
      if case .found = answer { late.remove(index + 1) }
      if isDue, answer == .missing { late.insert(index + 1) }
    }
    return isDue
  }

  /// Returns the matches of all processes that have answered, those of the first process first. Returns `nil`
  /// if the viewer does not search, or while the matches wait for a process.
  func matches(in answers: [Answer]) -> SearchMatches? {
    guard let search else { return nil }
    var parts: [SearchMatches] = []
    var unanswered: [Int] = []
    for (index, answer) in answers.enumerated() {
      switch answer {
      case .found(let matches): parts.append(matches)
      // After the deadline, the matches do not wait, also not for a process that was unreachable before.
      case .missing where deadline != nil && !late.contains(index + 1): return nil
      case .missing, .unreachable:
        parts.append(SearchMatches(none: search))
        unanswered.append(index + 1)
      case .ended: parts.append(SearchMatches(none: search))
      }
    }
    let number = search.start?.processNumber ?? 1
    let index = parts.indices.contains(number - 1) ? number - 1 : 0
    var matches = SearchMatches(search, joining: parts, startingIn: index)
    matches.unanswered = unanswered
    return matches
  }
}
