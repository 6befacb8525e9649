// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The matches of a search that are near the operation at which the search starts, in the order of
/// the list. The first match of the list follows the last match.
public struct SearchMatches: Sendable, Equatable {
  /// The maximum number of matches on each side of the operation at which the search starts.
  static let reach = 32

  /// The search that found the matches.
  public var search: Interest.Search
  /// The number of all matches.
  public var count: Int
  /// The position of the first of ``ids`` among all matches, from 0 on.
  public var first: Int
  /// The ids of matches that follow each other in the order of the list.
  public var ids: [OperationReport.ID]
  /// The index in ``ids`` of the operation at which the search starts or, if that operation does not
  /// match, of the first match after that operation.
  public var next: Int
  /// The numbers of the processes that have not answered, if a viewer watches several processes as one;
  /// otherwise empty. The viewer sets this value; a process does not send it.
  public var unanswered: [Int] = []

  /// Creates the result of a search from its values.
  init(search: Interest.Search, count: Int, first: Int, ids: [OperationReport.ID], next: Int) {
    self.search = search
    self.count = count
    self.first = first
    self.ids = ids
    self.next = next
  }

  /// Creates the result of a search that finds no operation.
  package init(none search: Interest.Search) {
    self.init(search: search, count: 0, first: 0, ids: [], next: 0)
  }

  /// Creates the result of a search from all its matches.
  ///
  /// - Parameters:
  ///   - search: The search.
  ///   - count: The number of all matches.
  ///   - position: The position of the match at which the search starts or, if the search does not
  ///     start at a match, of the first match after the start. The number of all matches means that
  ///     there is no match after the start.
  ///   - ids: Returns the ids of the matches at the given positions, in order.
  package init(
    _ search: Interest.Search, count: Int, position: Int,
    ids: (Range<Int>) -> [OperationReport.ID]
  ) {
    guard count > 0 else {
      self.init(none: search)
      return
    }
    let position = position % count
    guard count > 2 * Self.reach + 1 else {
      self.init(search: search, count: count, first: 0, ids: ids(0..<count), next: position)
      return
    }
    let first = (position - Self.reach + count) % count
    let end = first + 2 * Self.reach + 1
    let found =
      end <= count ? ids(first..<end) : ids(first..<count) + ids(0..<end - count)
    self.init(search: search, count: count, first: first, ids: found, next: Self.reach)
  }

  /// Whether ``ids`` contains all matches.
  package var isComplete: Bool { ids.count == count }

  /// Returns the position of an operation among all matches, from 0 on; `nil` if ``ids`` does not
  /// contain the operation.
  package func position(of id: OperationReport.ID) -> Int? {
    ids.firstIndex(of: id).map { (first + $0) % max(1, count) }
  }

  /// Returns the match at a distance from an operation. The distance 0 is the operation itself or, if
  /// the operation does not match, the first match after the operation. Returns `nil` if ``ids`` does
  /// not contain the match. If the distance is too long for ``ids``, returns the match at the end of
  /// ``ids``.
  package func match(_ distance: Int, from id: OperationReport.ID?) -> OperationReport.ID? {
    guard !ids.isEmpty else { return nil }
    let target: Int
    if let index = id.flatMap({ ids.firstIndex(of: $0) }) {
      target = index + distance
    } else if id == search.start || id == nil {
      // The first match after the operation is already one step away.
      target = next + (distance > 0 ? distance - 1 : distance)
    } else {
      return nil
    }
    guard isComplete else { return ids[max(0, min(target, ids.count - 1))] }
    return ids[((target % count) + count) % count]
  }

  /// Joins the matches of several processes. The matches of the first process come first.
  ///
  /// - Parameters:
  ///   - search: The search of the viewer.
  ///   - parts: The matches of each process, in the order of the processes.
  ///   - index: The index of the process whose operation is the start of the search.
  package init(_ search: Interest.Search, joining parts: [SearchMatches], startingIn index: Int) {
    let count = parts.reduce(0) { $0 + $1.count }
    guard count > 0 else {
      self.init(none: search)
      return
    }
    // The known ids by their positions among all matches of all processes.
    var known: [Int: OperationReport.ID] = [:]
    var offset = 0
    var position = 0
    for (number, part) in parts.enumerated() {
      for (place, id) in part.ids.enumerated() {
        known[offset + (part.first + place) % max(1, part.count)] = id
      }
      if number == index {
        position = offset + (part.count == 0 ? 0 : (part.first + part.next) % part.count)
      }
      offset += part.count
    }
    position %= count
    var before: [OperationReport.ID] = []
    while before.count < Self.reach, before.count < count - 1,
      let id = known[(position - 1 - before.count + count) % count]
    {
      before.append(id)
    }
    var ids = Array(before.reversed())
    while ids.count < count, ids.count <= before.count + Self.reach,
      let id = known[(position + ids.count - before.count) % count]
    {
      ids.append(id)
    }
    self.init(
      search: search, count: count, first: (position - before.count + count) % count, ids: ids,
      next: before.count)
  }
}

extension OperationReport {
  /// Returns whether the operation's name, kind, class or id contains the text of a search. ASCII letters
  /// match in upper and lower case. An empty text matches no operation.
  package func isMatch(of text: String) -> Bool {
    guard !text.isEmpty else { return false }
    return title.containsIgnoringCase(text) || kind.containsIgnoringCase(text)
      || className.containsIgnoringCase(text)
      || "\(id)".containsIgnoringCase(text)
  }
}
