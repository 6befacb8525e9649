// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
package import MonitorProtocol

/// What batch mode prints, in which form, and how often.
package struct BatchOptions: Sendable, Equatable {
  /// In which form a frame is printed.
  package enum Format: Sendable {
    /// As tables, for people.
    case text
    /// As one line of JSON.
    case json
    /// As a line for each operation, its values between tabs.
    case tsv
  }

  /// In which form frames are printed.
  var format: Format
  /// What is printed of an operation, in this order; `nil` for what the format has by itself.
  var fields: [BatchFrame.Operation.Field]?
  /// Which operations are printed; `nil` for all.
  var filter: OperationFilter?
  /// Whether text may hold more than ASCII.
  var isUnicode: Bool
  /// How many frames there are; `nil` for no end.
  var frameCount: Int?
  /// The time between frames.
  var interval: Duration

  /// Creates options; by default for text frames of all operations, one a second, without end.
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

  /// Which operations of one of several processes are printed, in its own words; `nil` as its number where
  /// one is watched.
  func filter(for number: Int?) -> OperationFilter? {
    number.flatMap { filter?.asked(of: $0) } ?? filter
  }

  /// What the monitor is to tell: with a filter no more operations than match.
  var interest: Interest { interest(for: nil) }

  /// The same for one of several processes by its number.
  func interest(for number: Int?) -> Interest {
    guard let filter = filter(for: number) else { return .everything }
    // A list without a limit is not filtered: the greatest one that may be.
    return Interest(order: SortOrder(by: .id), filter: filter, rowLimit: WireLimits.mostRows)
  }
}

/// The value of `--fields`: fields of operations with commas between them, each at most once.
enum FieldList {
  /// The words that there are, for help.
  static let words = BatchFrame.Operation.Field.allCases.map(\.rawValue).joined(separator: ", ")

  /// Reads a list.
  ///
  /// - Throws: `ValidationError` where it names what there is not, or one field twice.
  @Sendable static func fields(_ argument: String) throws -> [BatchFrame.Operation.Field] {
    var fields: [BatchFrame.Operation.Field] = []
    for word in argument.split(separator: ",", omittingEmptySubsequences: false) {
      guard let field = BatchFrame.Operation.Field(rawValue: String(word)) else {
        throw ValidationError("there is no field \"\(word)\": there are \(words)")
      }
      guard !fields.contains(field) else { throw ValidationError("\(word) is there twice") }
      fields.append(field)
    }
    return fields
  }
}
