// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The failed operations of a run, with a row for each kind of operation and text of an error.
struct FailureTable {
  /// The maximum number of rows. Further failures are only counted.
  private static let rowLimit = 50
  /// The maximum number of characters that are shown of an error's text.
  private static let errorLimit = 1_024
  /// The maximum number of operations that a row names.
  private static let namedLimit = 5

  /// What the failed operations of a row have in common.
  private struct Cause: Hashable {
    let kind: String
    let error: String?
  }

  /// The operations of one kind that failed with the same text.
  private struct Row {
    let cause: Cause
    /// The operations, the first to finish first.
    let operations: [OperationReport]
  }

  private let rows: [Row]

  /// Creates a table of the operations that failed, the most frequent failure first.
  init(_ operations: some Sequence<OperationReport>) {
    let failed = operations.filter { $0.state == .failed }
    rows = Dictionary(grouping: failed) { Cause(kind: $0.kind, error: $0.errorText) }
      .map { cause, members in
        Row(cause: cause, operations: members.sorted { Self.order(of: $0) < Self.order(of: $1) })
      }
      .sorted { left, right in
        let (first, second) = (left.operations[0], right.operations[0])
        return (right.operations.count, Self.order(of: first))
          < (left.operations.count, Self.order(of: second))
      }
  }

  /// A number by which operations are sorted: when they finished.
  private static func order(of report: OperationReport) -> Int64 {
    report.finished?.nanoseconds ?? .max
  }

  /// The HTML of the table, or a sentence if no operation failed.
  var html: String {
    guard !rows.isEmpty else { return "<p>No operation failed.</p>" }
    let shown = rows.prefix(Self.rowLimit).map { row in
      let names = row.operations.prefix(Self.namedLimit).map { "\($0.id) \($0.title)" }
      let left = row.operations.count - names.count
      let more = left > 0 ? " and \(HTMLText.count(left)) more" : ""
      return """
        <tr><td>\(HTMLText.escaped(row.cause.kind))</td>\
        <td>\(row.cause.error.map { HTMLText.escaped($0, limit: Self.errorLimit) } ?? "unknown error")</td>\
        <td class="n">\(HTMLText.count(row.operations.count))</td>\
        <td>\(HTMLText.escaped(names.joined(separator: ", ")))\(more)</td></tr>
        """
    }
    let left = rows.count - shown.count
    let note =
      left > 0
      ? "<p class=\"note\">\(HTMLText.count(left)) more rows are not shown.</p>" : ""
    return """
      <div class="scroll"><table><thead><tr><th>kind</th><th>error</th>\
      <th class="n">operations</th><th>which</th></tr></thead>
      <tbody>\(shown.joined(separator: "\n"))</tbody></table></div>\(note)
      """
  }
}
