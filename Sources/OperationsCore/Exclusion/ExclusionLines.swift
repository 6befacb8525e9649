// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Who has which categories, and who waits for one: a line for each category.
///
/// A pure value. A member gets its categories one after the other, in the order of their names, and
/// waits for one of them at a time, holding those before it. As everybody follows the same order there
/// is no circle, and as lines are kept in the order of arrival nobody is overtaken for ever.
struct ExclusionLines {
  /// Tells members apart; never used again.
  typealias Number = UInt64

  /// One that has joined and not left.
  private struct Member {
    /// In the order in which it gets them.
    let categories: [ExclusionCategory]
    /// How many of them it has.
    var heldCount = 0

    /// What it waits for; `nil` where it has all.
    var next: ExclusionCategory? {
      heldCount < categories.count ? categories[heldCount] : nil
    }
  }

  struct Line {
    fileprivate(set) var holders: [Number] = []
    /// Those that wait, in order. Among them may be some that have left.
    fileprivate(set) var waiting: [Number] = []
    /// How many of `waiting`, from the front, have had their turn.
    fileprivate var passedCount = 0
    /// How many of the others have left.
    fileprivate var leftCount = 0
  }

  private var members: [Number: Member] = [:]
  private(set) var lines: [ExclusionCategory: Line] = [:]
  private var lastNumber: Number = 0

  var isEmpty: Bool { members.isEmpty && lines.isEmpty }

  /// Takes what is free, and a place in the line of the first category that is not.
  ///
  /// - Returns: The new member's number, and whether it has all of them.
  mutating func join(_ categories: Set<ExclusionCategory>) -> (number: Number, hasAll: Bool) {
    lastNumber += 1
    members[lastNumber] = Member(
      categories: categories.sorted { ($0.name, $0.limit) < ($1.name, $1.limit) })
    return (lastNumber, goOn(lastNumber))
  }

  /// Gives up what a member has, and its place.
  ///
  /// - Returns: Those that have all they want by this.
  mutating func leave(_ number: Number) -> [Number] {
    guard let member = members.removeValue(forKey: number) else { return [] }
    if let next = member.next {
      lines[next]?.leftCount += 1
      dropLeft(next)
    }
    var complete: [Number] = []
    for category in member.categories.prefix(member.heldCount) {
      lines[category]?.holders.removeAll { $0 == number }
      complete += advance(category)
    }
    return complete
  }

  /// What a member waits for, and who has it; `nil` where it has all.
  func obstacle(of number: Number) -> (category: ExclusionCategory, holders: [Number])? {
    members[number]?.next.map { ($0, lines[$0]?.holders ?? []) }
  }

  /// Lets a member take what is free. - Returns: Whether it has all now.
  private mutating func goOn(_ number: Number) -> Bool {
    while let next = members[number]?.next {
      // Where somebody waits nothing is free.
      guard lines[next, default: Line()].holders.count < next.limit else {
        lines[next]?.waiting.append(number)
        return false
      }
      lines[next, default: Line()].holders.append(number)
      members[number]?.heldCount += 1
    }
    return true
  }

  /// Lets the next in line have the category, while there is some of it.
  ///
  /// - Returns: Those that have all they want by this.
  private mutating func advance(_ category: ExclusionCategory) -> [Number] {
    guard var line = lines.removeValue(forKey: category) else { return [] }
    var taken: [Number] = []
    while line.holders.count < category.limit, line.passedCount < line.waiting.count {
      let next = line.waiting[line.passedCount]
      line.passedCount += 1
      guard members[next] != nil else {
        line.leftCount -= 1
        continue
      }
      line.holders.append(next)
      members[next]?.heldCount += 1
      taken.append(next)
    }
    // Moved up seldom enough that each pays for itself.
    if line.passedCount > 16, 2 * line.passedCount > line.waiting.count {
      line.waiting.removeFirst(line.passedCount)
      line.passedCount = 0
    }
    if !line.holders.isEmpty { lines[category] = line }
    return taken.filter { goOn($0) }
  }

  /// Forgets those that have left before their turn, once they are the most.
  private mutating func dropLeft(_ category: ExclusionCategory) {
    guard let line = lines[category], 2 * line.leftCount > line.waiting.count - line.passedCount
    else { return }
    lines[category]?.waiting = line.waiting.dropFirst(line.passedCount).filter {
      members[$0] != nil
    }
    lines[category]?.passedCount = 0
    lines[category]?.leftCount = 0
  }
}
