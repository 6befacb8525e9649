// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A column of the list that the user has chosen.
public struct ColumnSetting: Sendable, Hashable {
  /// A column of the list. The raw value is the name in the settings file.
  public enum Column: String, Sendable, CaseIterable {
    /// The cancel key.
    case key
    /// The id.
    case id
    /// The process, if several processes are watched.
    case process
    /// The state.
    case state
    /// The name of the queue.
    case queue
    /// The priority.
    case priority
    /// The quality of service.
    case quality = "qos"
    /// The place in the order in which the queue starts its ready operations.
    case position
    /// The number of finished dependencies and of all dependencies.
    case dependencies
    /// The time in the state, or the run time of an operation that has ended.
    case time
    /// The number of operations that depend on the operation.
    case dependents
    /// The kind.
    case kind
    /// The progress.
    case progress
    /// The name.
    case name
    /// The error, or the reason for the cancellation.
    case error
  }

  /// The numbers of cells that a column can have.
  public static let widths = 3...60

  /// The column.
  public var column: Column
  /// The number of cells of the column, one of ``widths``; `nil` if the dashboard chooses the width.
  public var width: Int?

  /// Creates a setting. By default, the dashboard chooses the width.
  public init(_ column: Column, width: Int? = nil) {
    self.column = column
    self.width = width
  }
}
