// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
package import MonitorProtocol

/// The content, the format and the interval of the output of batch mode.
package struct BatchOptions: Sendable, Equatable {
  /// The format of frames, which are the reports that batch mode prints at each interval.
  package enum Format: Sendable {
    /// A frame consists of tables for people.
    case text
    /// A frame is one line of JSON.
    case json
    /// A frame has a line of tab-separated values for each operation.
    case tsv
  }

  /// The format of all frames.
  var format: Format
  /// The printed fields of each operation, in this order; `nil` for the default fields of the
  /// format.
  var fields: [BatchFrame.Operation.Field]?
  /// A filter for the printed operations; `nil` for all operations.
  var filter: OperationFilter?
  /// The order of the printed operations; `nil` for the order of ids.
  var order: SortOrder?
  /// Whether the output may contain characters other than ASCII.
  var isUnicode: Bool
  /// The number of frames to print; `nil` for no limit.
  var frameCount: Int?
  /// The time between two frames.
  var interval: Duration

  /// Creates options. The default is one text frame of all operations per second, without a limit
  /// on the number of frames.
  package init(
    format: Format = .text, fields: [BatchFrame.Operation.Field]? = nil,
    filter: OperationFilter? = nil, order: SortOrder? = nil, isUnicode: Bool = true,
    frameCount: Int? = nil,
    interval: Duration = .seconds(1)
  ) {
    self.format = format
    self.fields = fields
    self.filter = filter
    self.order = order
    self.isUnicode = isUnicode
    self.frameCount = frameCount
    self.interval = interval
  }

  /// Returns the filter to send to the process with this number. The filter's ids are converted to
  /// the ids that the process itself uses. If only one process is watched, the number is `nil` and
  /// the filter is unchanged.
  func filter(for number: Int?) -> OperationFilter? {
    number.flatMap { filter?.asked(of: $0) } ?? filter
  }

  /// Returns the interest that the program sends to a process: the data that it requests. With a
  /// filter, the program requests only matching operations. If several processes are watched, the
  /// process has a number.
  func interest(for number: Int?) -> Interest {
    guard let filter = filter(for: number) else { return .everything }
    // A monitor applies a filter only if the number of requested operations has a limit. Therefore
    // the interest has the maximum limit.
    return Interest(order: SortOrder(by: .id), filter: filter, rowLimit: WireLimits.mostRows)
  }
}

/// Parses the value of `--fields`: the names of operations' fields, separated by commas, each at
/// most once.
enum FieldList {
  /// The names of all fields, for the help text.
  static let words = BatchFrame.Operation.Field.allCases.map(\.rawValue).joined(separator: ", ")

  /// Parses a list of fields.
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
