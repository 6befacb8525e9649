// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
package import MonitorProtocol

/// The content, the format and the interval of the output of batch mode.
package struct BatchOptions: Sendable, Equatable {
  /// The format of a frame.
  package enum Format: Sendable {
    /// Tables for people.
    case text
    /// As one line of JSON.
    case json
    /// One line of tab-separated values per operation.
    case tsv
  }

  /// The format of frames.
  var format: Format
  /// The fields of operations to print, in this order; `nil` for the default of the format.
  var fields: [BatchFrame.Operation.Field]?
  /// The condition for operations to print; `nil` for all operations.
  var filter: OperationFilter?
  /// Whether text may contain characters other than ASCII.
  var isUnicode: Bool
  /// The number of frames; `nil` for no limit.
  var frameCount: Int?
  /// The time between frames.
  var interval: Duration

  /// Creates options; by default for text frames of all operations, one per second, without a
  /// limit.
  package init(
    format: Format = .text, fields: [BatchFrame.Operation.Field]? = nil,
    filter: OperationFilter? = nil, isUnicode: Bool = true, frameCount: Int? = nil,
    interval: Duration = .seconds(1)
  ) {
    self.format = format
    self.fields = fields
    self.filter = filter
    self.isUnicode = isUnicode
    self.frameCount = frameCount
    self.interval = interval
  }

  /// Returns the filter for one of several processes, in the process's own ids; the unchanged
  /// filter if one process is watched and the number is `nil`.
  func filter(for number: Int?) -> OperationFilter? {
    number.flatMap { filter?.asked(of: $0) } ?? filter
  }

  /// The interest to request from the monitor. With a filter, only matching operations are
  /// requested.
  var interest: Interest { interest(for: nil) }

  /// Returns the interest for one of several processes by its number.
  func interest(for number: Int?) -> Interest {
    guard let filter = filter(for: number) else { return .everything }
    // A list without a limit is not filtered, so the limit is the maximum.
    return Interest(order: SortOrder(by: .id), filter: filter, rowLimit: WireLimits.mostRows)
  }
}

/// The value of `--fields`: fields of operations, separated by commas, each at most once.
enum FieldList {
  /// All words, for the help text.
  static let words = BatchFrame.Operation.Field.allCases.map(\.rawValue).joined(separator: ", ")

  /// Parses a list.
  ///
  /// - Throws: `ValidationError` if a field is unknown or repeated.
  @Sendable static func fields(_ argument: String) throws -> [BatchFrame.Operation.Field] {
    var fields: [BatchFrame.Operation.Field] = []
    for word in argument.split(separator: ",", omittingEmptySubsequences: false) {
      guard let field = BatchFrame.Operation.Field(rawValue: String(word)) else {
        throw ValidationError("unknown field \"\(word)\"; the fields are \(words)")
      }
      guard !fields.contains(field) else { throw ValidationError("field \(word) is repeated") }
      fields.append(field)
    }
    return fields
  }
}
