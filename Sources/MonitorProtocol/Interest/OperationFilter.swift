// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A condition for the operations in a list, written as text that a user types.
///
/// Terms are separated by spaces, and an operation must match all terms. The term `a|b` matches if
/// `a` or `b` matches. A `!` before a term negates it. A part of a term has one of these forms.
/// ASCII letters match in upper and lower case:
///
/// - `tiles`: the name contains this text, or the kind if the operation has no name. `"two words"`
///   may contain spaces and signs. Between quotation marks, `""` means one quotation mark.
/// - `state:executing`: the state, or the beginning of its word, such as `state:exec`.
///   `state:finished` includes failed operations, and `state:succeeded` does not.
/// - `queue:io`: the queue's name contains this text.
/// - `kind:Merge`: the kind contains this text. The kind is the class unless the program has set one.
/// - `class:Merge`: the class contains this text.
/// - `kind:=Merge`: the kind is exactly this text, in the same case. `queue:=`, `class:=` and `name:=`
///   do the same for other values. `queue:=""` matches an empty name. Since version 1.4 of the protocol.
/// - `queue:=#3`: the queue with this id in its process, whatever its name. `queue:="#3"` is the queue with the
///   name `#3`. Since version 1.4 of the protocol.
/// - `priority:high`: `verylow`, `low`, `normal`, `high` or `veryhigh`.
/// - `age>5s`, `age<500ms`: the time in its state, or the run time if the operation is finished or
///   cancelled, in `ms`, `s`, `m` or `h`; without a unit, in seconds. An operation whose time is
///   unknown does not match.
/// - `#1042`: the operation with this id. If several processes are watched, `#1042` matches in each
///   process, `2#1042` in the second process only, and `2#` matches all operations of the second
///   process. If one process is watched, `2#1042` and `2#` are text like any other.
public struct OperationFilter: Sendable, Hashable {
  /// One condition for an operation.
  enum Condition: Sendable, Hashable {
    case name(Text)
    case states(Set<OperationState>)
    case queue(Text)
    /// The operation belongs to the queue with this id, which does not include a process number.
    case queueID(QueueReport.ID)
    case kind(Text)
    case className(Text)
    case priority(OperationPriority)
    /// The age in nanoseconds, and whether the operation's age must be greater or less.
    case age(Int64, isMore: Bool)
    /// The operation has this id. If the id does not include a process number, it matches in any
    /// process.
    case id(OperationReport.ID)
    /// The operation belongs to the process with this number.
    case process(Int)
  }

  /// A condition for a text.
  struct Text: Sendable, Hashable {
    /// The text to find.
    var value: String
    /// Whether the text must equal ``value``. Otherwise it must contain ``value``, in upper or lower case.
    var isExact = false

    func matches(_ text: String) -> Bool {
      isExact ? text == value : text.containsIgnoringCase(value)
    }
  }

  /// A list of conditions. At least one condition must match. If the term is negated, no condition
  /// may match.
  struct Term: Sendable, Hashable {
    var isNegated: Bool
    var alternatives: [Condition]
  }

  /// The text as the user typed it.
  public let text: String
  let terms: [Term]

  /// Whether the result of the filter depends on the current time.
  package var dependsOnTime: Bool {
    terms.contains { term in
      term.alternatives.contains { if case .age = $0 { true } else { false } }
    }
  }

  /// Whether the result of the filter depends on the names of queues.
  package var dependsOnQueueNames: Bool {
    terms.contains { term in
      term.alternatives.contains { if case .queue = $0 { true } else { false } }
    }
  }

  /// Creates a filter from the text that a user typed. A text of only spaces matches all
  /// operations.
  ///
  /// - Throws: ``OperationFilterError``, which describes the invalid part.
  public init(_ text: String) throws(OperationFilterError) {
    var parser = OperationFilterParser(text)
    self.text = text
    terms = try parser.terms()
  }

  /// Returns the text between quotation marks, so that a filter has it as one value: `say "x"` becomes
  /// `"say ""x"""`.
  package static func quoted(_ text: String) -> String {
    var quoted = "\"".unicodeScalars
    for scalar in text.unicodeScalars {
      if scalar == "\"" { quoted.append(scalar) }
      quoted.append(scalar)
    }
    quoted.append("\"")
    return String(quoted)
  }

  /// Returns whether an operation belongs in the list.
  ///
  /// - Parameters:
  ///   - report: The operation.
  ///   - queueName: The name of its queue.
  ///   - now: The moment for which ages are computed.
  /// - Returns: Whether the operation matches all terms.
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
    case .name(let text): return text.matches(report.title)
    case .states(let states): return states.contains(report.state)
    case .queue(let text): return text.matches(queueName)
    case .queueID(let id): return report.queue.withinProcess == id
    case .kind(let text): return text.matches(report.kind)
    case .className(let text): return text.matches(report.className)
    case .priority(let priority): return report.priority == priority
    case .id(let id):
      if id.processNumber == 0 { return report.id.withinProcess == id }
      return report.isMultiProcess ? report.id == id : report.title.containsIgnoringCase("\(id)")
    case .process(let number):
      return report.isMultiProcess
        ? report.id.processNumber == number : report.title.containsIgnoringCase("\(number)#")
    case .age(let limit, let isMore):
      if let age = report.filteredAge(at: now) { return isMore ? age > limit : age < limit }
      // The time in the state is unknown, but at least this long.
      guard isMore, let found = report.foundExecuting else { return false }
      return now.nanoseconds - found.nanoseconds > limit
    }
  }
}

extension OperationReport {
  /// Whether the operation belongs to one of several processes that are watched as one.
  fileprivate var isMultiProcess: Bool { id.processNumber != 0 }

  /// Returns the age that a filter compares, in nanoseconds: the run time if the operation is
  /// finished or cancelled; otherwise the time in its state. Returns `nil` if the time is unknown,
  /// or if a finished or cancelled operation never ran.
  func filteredAge(at now: MonitorTime) -> Int64? {
    if state.isOver {
      guard let started, let finished else { return nil }
      return max(0, finished.nanoseconds - started.nanoseconds)
    }
    return stateEntered.map { max(0, now.nanoseconds - $0.nanoseconds) }
  }
}

extension String {
  /// Returns whether the text contains `part`. ASCII letters match in upper and lower case.
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
