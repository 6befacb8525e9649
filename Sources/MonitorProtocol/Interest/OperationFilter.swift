// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Which operations a list holds, in the words that a user types.
///
/// Terms are separated by spaces, and all of them must hold. `a|b` holds where one of its parts does,
/// and `!` before a term turns it round. A part is one of these; letters match whatever their case,
/// where they are ASCII:
///
/// - `tiles`: the name, or the class of what has no name, has this in it. `"two words"` may have
///   spaces and signs.
/// - `state:executing`: the state, or the beginning of its word, such as `state:exec`.
/// - `queue:io`: the queue's name has this in it.
/// - `class:Merge`: the class has this in it.
/// - `priority:high`: `verylow`, `low`, `normal`, `high` or `veryhigh`.
/// - `age>5s`, `age<500ms`: the time in its state, or the time for which it ran where it is over, in
///   `ms`, `s`, `m` or `h`; without a unit in seconds. What is not known matches neither.
/// - `#1042`: the operation with this id. Where several processes are watched, that of each of them;
///   `2#1042` is that of the second one, and `2#` everything of it. Where one is watched these are text
///   like any other.
public struct OperationFilter: Sendable, Hashable {
  /// One condition.
  enum Condition: Sendable, Hashable {
    case name(String)
    case states(Set<OperationState>)
    case queue(String)
    case className(String)
    case priority(OperationPriority)
    /// Nanoseconds, and whether more than that or less.
    case age(Int64, isMore: Bool)
    /// Of whatever process where it has no number of one.
    case id(OperationReport.ID)
    /// By its number.
    case process(Int)
  }

  /// Conditions of which one has to hold, or none.
  struct Term: Sendable, Hashable {
    var isNegated: Bool
    var alternatives: [Condition]
  }

  /// The text as it was typed.
  public let text: String
  let terms: [Term]

  /// Whether what matches depends on the time.
  package var dependsOnTime: Bool {
    terms.contains { term in
      term.alternatives.contains { if case .age = $0 { true } else { false } }
    }
  }

  /// Whether what matches depends on the names of queues.
  package var dependsOnQueueNames: Bool {
    terms.contains { term in
      term.alternatives.contains { if case .queue = $0 { true } else { false } }
    }
  }

  /// Reads what a user has typed. Only spaces match everything.
  ///
  /// - Throws: ``OperationFilterError``, which says what is not understood.
  public init(_ text: String) throws(OperationFilterError) {
    var parser = OperationFilterParser(text)
    self.text = text
    terms = try parser.terms()
  }

  /// Whether an operation belongs into the list.
  ///
  /// - Parameters:
  ///   - report: The operation.
  ///   - queueName: The name of its queue.
  ///   - now: The moment for which ages are taken.
  /// - Returns: Whether all terms hold.
  public func matches(_ report: OperationReport, queueName: String, at now: MonitorTime) -> Bool {
    terms.allSatisfy { term in
      let holds = term.alternatives.contains {
        $0.holds(for: report, queueName: queueName, at: now)
      }
      return holds != term.isNegated
    }
  }
}

extension OperationFilter.Condition {
  func holds(for report: OperationReport, queueName: String, at now: MonitorTime) -> Bool {
    switch self {
    case .name(let part): return report.title.containsIgnoringCase(part)
    case .states(let states): return states.contains(report.state)
    case .queue(let part): return queueName.containsIgnoringCase(part)
    case .className(let part): return report.className.containsIgnoringCase(part)
    case .priority(let priority): return report.priority == priority
    case .id(let id):
      if id.processNumber == 0 { return report.id.withinProcess == id }
      return report.isOfSeveral ? report.id == id : report.title.containsIgnoringCase("\(id)")
    case .process(let number):
      return report.isOfSeveral
        ? report.id.processNumber == number : report.title.containsIgnoringCase("\(number)#")
    case .age(let limit, let isMore):
      guard let age = report.filteredAge(at: now) else { return false }
      return isMore ? age > limit : age < limit
    }
  }
}

extension OperationReport {
  /// Whether it is of one of several processes that are watched as one.
  fileprivate var isOfSeveral: Bool { id.processNumber != 0 }

  /// Nanoseconds in its state, or those for which it ran where it is over; `nil` where not known, or
  /// where it is over and never ran.
  func filteredAge(at now: MonitorTime) -> Int64? {
    if state.isOver {
      guard let started, let finished else { return nil }
      return max(0, finished.nanoseconds - started.nanoseconds)
    }
    return stateEntered.map { max(0, now.nanoseconds - $0.nanoseconds) }
  }
}

extension String {
  /// Whether `part` is in the text; ASCII letters match whatever their case.
  package func containsIgnoringCase(_ part: String) -> Bool {
    var part = part
    return part.withUTF8 { needle in
      guard let first = needle.first.map(Self.folded) else { return true }
      return utf8.withContiguousStorageIfAvailable { text in
        guard text.count >= needle.count else { return false }
        return (0...text.count - needle.count).contains { start in
          Self.folded(text[start]) == first
            && needle.indices.allSatisfy {
              Self.folded(text[start + $0]) == Self.folded(needle[$0])
            }
        }
      } ?? false
    }
  }

  private static func folded(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}
