// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What a process had told up to a moment: everything, or everything within an interest.
public struct RecordedState: Sendable {
  /// The last update, without its operations and events; `nil` before the first one.
  public private(set) var latest: Update?
  /// The operations that are known.
  public private(set) var operations: [OperationReport.ID: OperationReport] = [:]

  /// Creates a state in which nothing is known.
  public init() {}

  /// Takes in the next update.
  ///
  /// - Parameters:
  ///   - update: The update.
  ///   - isWhole: Whether it holds everything: what it does not name is gone.
  public mutating func apply(_ update: Update, isWhole: Bool) {
    if isWhole { operations.removeAll(keepingCapacity: true) }
    for report in update.changed { operations[report.id] = report }
    for id in update.removed { operations[id] = nil }
    var latest = update
    latest.changed = []
    latest.removed = []
    latest.events = nil
    self.latest = latest
  }

  /// All of it as one update; `nil` where nothing is known.
  public var whole: Update? {
    var update = latest
    update?.changed = operations.values.sorted { $0.id < $1.id }
    return update
  }
}
