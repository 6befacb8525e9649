// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// What batch mode prints, in which form, and how often.
struct BatchOptions: Sendable, Equatable {
  /// In which form a frame is printed.
  enum Format: Sendable {
    /// As tables, for people.
    case text
    /// As one line of JSON.
    case json
    /// As a line for each operation, its values between tabs.
    case tsv
  }

  /// In which form frames are printed.
  var format = Format.text
  /// What is printed of an operation, in this order; `nil` for what the format has by itself.
  var fields: [Frame.Operation.Field]?
  /// Which operations are printed; `nil` for all.
  var filter: OperationFilter?
  /// Whether text may hold more than ASCII.
  var isUnicode = true
  /// How many frames there are; `nil` for no end.
  var frameCount: Int?
  /// The time between frames.
  var interval = Duration.seconds(1)

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
