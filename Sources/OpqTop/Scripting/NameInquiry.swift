// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Finds the ids of operations by their names. It prints nothing.
struct NameInquiry: Inquiry {
  /// The error that a name does not identify one operation.
  struct Failure: Error, CustomStringConvertible {
    /// The error as one sentence, without the characters that control a terminal.
    let description: String
  }

  /// The maximum number of operations that a process of an earlier version sends. Such a process does not know
  /// `Interest.names`, so it sends operations whose names only contain a name.
  private static let mostRows = 10_000

  private let names: [String]
  var knowledge = ProcessKnowledge(InquiryForm())
  private(set) var nextLook: MonitorTime?

  /// - Parameter names: The exact names; at least one. A process is asked for the names in one of ``parts(of:)``.
  init(_ names: [String]) { self.names = names }

  /// Returns the names in parts that are so small that a process accepts each part in one request.
  static func parts(of names: [String]) -> [[String]] {
    var parts: [[String]] = []
    var left = 0
    for name in names {
      left -= name.wireNameSize
      if left < 0 {
        parts.append([])
        left = WireLimits.mostNameBytes - name.wireNameSize
      }
      parts[parts.count - 1].append(name)
    }
    return parts
  }

  /// The operations with one of the names.
  var interest: Interest {
    var interest = Interest(
      order: SortOrder(by: .id), filter: filter, rowLimit: Self.mostRows)
    interest.names = Set(names)
    return interest
  }

  /// The condition for a process of an earlier version: the name contains one of the names. The filters of earlier
  /// versions cannot contain quotation marks, so only the beginning of a name with such a mark is used. `nil` if the
  /// filter would match all operations, or would be too long.
  private var filter: OperationFilter? {
    let parts = names.map { name in String(name.unicodeScalars.prefix { $0 != "\"" }) }
    guard !parts.contains(where: \.isEmpty) else { return nil }
    let text = parts.map { "\"\($0)\"" }.joined(separator: "|")
    return text.utf8.count > WireLimits.longestText ? nil : try? OperationFilter(text)
  }

  mutating func look(at now: MonitorTime) -> [InquiryAction] {
    nextLook = knowledge.nextLook(at: now)
    let found = matches()
    let isFound = knowledge.isFilled && names.allSatisfy { found[$0] != nil }
    return isFound || knowledge.isComplete(at: now) ? [.success] : []
  }

  mutating func leave(at now: MonitorTime) -> [InquiryAction] { [.success] }

  private func matches() -> [String: [OperationReport.ID]] {
    let wanted = Set(names)
    var found: [String: [OperationReport.ID]] = [:]
    for report in knowledge.operations.all where wanted.contains(report.name) {
      found[report.name, default: []].append(report.id)
    }
    return found
  }

  /// Returns the id of the operation with each name. If a process has retried jobs, several operations can have the
  /// name of a job; the newest one is returned.
  ///
  /// - Throws: ``Failure`` if no operation has a name, or if several operations have it.
  func ids() throws(Failure) -> [String: OperationReport.ID] {
    let found = matches()
    var ids: [String: OperationReport.ID] = [:]
    for name in names {
      let shown = EscapedText.escaped(name)
      let all = (found[name] ?? []).sorted()
      guard let newest = all.last else {
        let isIncomplete = knowledge.operations.all.count >= Self.mostRows
        throw Failure(
          description: isIncomplete
            ? "too many names contain \"\(shown)\"; use the id of the operation"
            : "no operation has the name \"\(shown)\"; finished operations may not be known")
      }
      guard all.count == 1 || knowledge.hello?.canRetry == true else {
        let list = all.prefix(10).map { "\($0)" }.joined(separator: ", ")
        let more = all.count > 10 ? " and \(all.count - 10) more" : ""
        throw Failure(
          description: "\(all.count) operations have the name \"\(shown)\": \(list)\(more)")
      }
      ids[name] = newest
    }
    return ids
  }
}
