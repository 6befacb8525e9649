// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Who has which categories, and who waits for them: a line for each category.
///
/// A pure value. A member takes its place in all of its lines at once, so that any two stand in the
/// same order wherever they meet: the first of all that wait is held up by nobody but those that have
/// what it wants. So there is no circle, and nobody is overtaken for ever.
struct ExclusionLines {
  /// Tells members apart; higher for those that join later, and never used again.
  typealias Number = UInt64

  /// One that has joined and not left.
  private struct Member {
    let categories: Set<ExclusionCategory>
    /// Those of them that it does not have yet.
    var missing: Set<ExclusionCategory> = []
  }

  struct Line {
    var holders: [Number] = []
    /// Those that wait, in order. Among them may be some that have left.
    var waiting: [Number] = []
    /// How many of `waiting`, from the front, have had their turn.
    var passedCount = 0
    /// How many of the others have left.
    var leftCount = 0
  }

  private var members: [Number: Member] = [:]
  private(set) var lines: [ExclusionCategory: Line] = [:]
  private var lastNumber: Number = 0

  var isEmpty: Bool { members.isEmpty && lines.isEmpty }

  /// Takes a place in the line of each category.
  ///
  /// - Returns: The new member's number, and whether it has all of them at once.
  mutating func join(_ categories: Set<ExclusionCategory>) -> (number: Number, hasAll: Bool) {
    lastNumber += 1
    var member = Member(categories: categories)
    for category in categories {
      if lines[category, default: Line()].holders.count < category.limit {
        lines[category, default: Line()].holders.append(lastNumber)
      } else {
        lines[category, default: Line()].waiting.append(lastNumber)
        member.missing.insert(category)
      }
    }
    members[lastNumber] = member
    return (lastNumber, member.missing.isEmpty)
  }

  /// Gives up what a member has, and its places.
  ///
  /// - Returns: Those that have all they want by this.
  mutating func leave(_ number: Number) -> [Number] {
    guard let member = members.removeValue(forKey: number) else { return [] }
    var complete: [Number] = []
    for category in member.categories {
      if member.missing.contains(category) {
        lines[category]?.leftCount += 1
        dropLeft(category)
      } else {
        lines[category]?.holders.removeAll { $0 == number }
        complete += advance(category)
      }
    }
    return complete
  }

  /// What a member does not have, by name, and who has it; `nil` where it has all.
  func obstacle(of number: Number) -> (category: ExclusionCategory, holders: [Number])? {
    let missing = members[number]?.missing.min { ($0.name, $0.limit) < ($1.name, $1.limit) }
    return missing.map { ($0, lines[$0]?.holders ?? []) }
  }

  /// Lets the next in line have the category, while there is some of it.
  private mutating func advance(_ category: ExclusionCategory) -> [Number] {
    guard var line = lines.removeValue(forKey: category) else { return [] }
    var complete: [Number] = []
    while line.holders.count < category.limit, line.passedCount < line.waiting.count {
      let next = line.waiting[line.passedCount]
      line.passedCount += 1
      guard members[next]?.missing.remove(category) != nil else {
        line.leftCount -= 1
        continue
      }
      line.holders.append(next)
      if members[next]?.missing.isEmpty == true { complete.append(next) }
    }
    if line.holders.isEmpty { return complete }
    // Moved up seldom enough that each pays for itself.
    if line.passedCount > 16, 2 * line.passedCount > line.waiting.count {
      line.waiting.removeFirst(line.passedCount)
      line.passedCount = 0
    }
    lines[category] = line
    return complete
  }

  /// Forgets those that have left before their turn, once they are the most.
  private mutating func dropLeft(_ category: ExclusionCategory) {
    guard let line = lines[category], 2 * line.leftCount > line.waiting.count - line.passedCount
    else { return }
    let members = members
    lines[category]?.waiting = line.waiting.dropFirst(line.passedCount).filter {
      members[$0] != nil
    }
    lines[category]?.passedCount = 0
    lines[category]?.leftCount = 0
  }
}
