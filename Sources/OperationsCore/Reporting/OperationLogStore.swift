// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The last log lines of the operations of this process. It can be used on any thread.
///
/// Lines are stored also while nothing reads them, so that a viewer that attaches later shows what an
/// operation has logged before. A finished operation keeps its lines until the limit of memory
/// drops them.
package final class OperationLogStore: Sendable {
  /// The operations whose lines a reader needs.
  package enum Selection: Sendable, Equatable {
    case operations(Set<OperationID>)
    case all

    func contains(_ id: OperationID) -> Bool {
      switch self {
      case .operations(let ids): ids.contains(id)
      case .all: true
      }
    }
  }

  /// Lines of one operation that follow each other.
  package struct Lines: Sendable, Equatable {
    package let operation: OperationID
    /// The number of the first line: the number of lines that the operation has logged before.
    package let first: UInt64
    /// The lines, the oldest first.
    package let lines: [OperationLogLine]
  }

  private struct State {
    var table: OperationLogTable
    /// The lines that the collector needs; `nil` if it needs none.
    var selection: Selection?
    var wake: (@Sendable () -> Void)?
    /// Whether the collector was woken and has not looked since.
    var isWoken = false
  }

  /// The store of this process.
  package static let shared = OperationLogStore()

  /// The usual limit of the memory in bytes.
  package static let usualByteLimit = OperationLogTable.usualByteLimit
  /// The maximum number of lines of one operation.
  package static let lineLimit = OperationLogTable.lineLimit

  /// The number of operations whose lines are read while the lock is held.
  private static let slice = 64

  private let state: Locked<State>

  /// Creates a store with a limit of memory in bytes.
  package init(byteLimit: Int = OperationLogStore.usualByteLimit) {
    state = Locked(State(table: OperationLogTable(byteLimit: byteLimit)))
  }

  /// Stores a line of an operation. A long text is cut; see ``OperationLogLine/longestText``.
  package func append(_ text: String, level: OperationLogLevel, of operation: Operation) {
    let id = operation.id
    let reports = operation.makeRare { $0.makeReports() }
    let text = OperationLogLine.stored(text)
    let wake = state.withLock { state in
      // The number and the time are taken under the lock, so that both are in the order of the lines.
      state.table.append(
        text, level: level, at: csystem_monotonic_nanoseconds(), of: id,
        number: reports.nextLogLineNumber())
      guard !state.isWoken, let wake = state.wake, state.selection?.contains(id) == true else {
        return nil as (@Sendable () -> Void)?
      }
      state.isWoken = true
      return wake
    }
    wake?()
  }

  // MARK: The collector

  /// Sets the lines about which the collector is woken; `nil` for none. A call with the same selection
  /// has no effect.
  ///
  /// - Parameters:
  ///   - selection: The operations whose lines the collector needs.
  ///   - wake: A function that is called on any thread, outside of the lock, when such an operation
  ///     has logged for the first time since the last call of ``look()``. It must not block.
  package func wake(for selection: Selection?, _ wake: @escaping @Sendable () -> Void) {
    let old = state.withLock { state -> (@Sendable () -> Void)? in
      guard state.selection != selection else { return nil }
      let old = state.wake
      state.selection = selection
      state.wake = selection == nil ? nil : wake
      state.isWoken = false
      return old
    }
    withExtendedLifetime(old) {}
  }

  /// Makes the next line wake the collector again. The collector calls this method before it reads.
  package func look() { state.withLock { $0.isWoken = false } }

  /// The sequence number of the last line: the number of lines that were ever stored.
  package var sequence: UInt64 { state.withLock { $0.table.sequence } }

  /// Returns whether operations of a selection have logged after a sequence number.
  package func hasLines(of selection: Selection, after sequence: UInt64) -> Bool {
    state.withLock { state in
      switch selection {
      case .all: state.table.sequence > sequence
      case .operations(let ids): ids.contains { state.table.lastSequence(of: $0) > sequence }
      }
    }
  }

  /// Returns the stored lines of operations with a sequence number in a range. Operations without
  /// such lines are left out.
  package func lines(of selection: Selection, in range: ClosedRange<UInt64>) -> [Lines] {
    let ids: [OperationID]
    switch selection {
    case .operations(let chosen): ids = chosen.sorted()
    case .all:
      let after = range.lowerBound - 1
      ids = state.withLock { $0.table.operations(after: after) }.sorted()
    }
    var all: [Lines] = []
    for start in stride(from: 0, to: ids.count, by: Self.slice) {
      let part = ids[start..<min(start + Self.slice, ids.count)]
      state.withLock { state in
        for id in part {
          guard let (first, lines) = state.table.lines(of: id, in: range) else { continue }
          all.append(Lines(operation: id, first: first, lines: lines))
        }
      }
    }
    return all
  }

  /// Whether an operation has lost all its lines because of the limit of memory.
  package var hasDroppedOperations: Bool { state.withLock { $0.table.hasDroppedOperations } }
  /// The number of lines that were dropped because of a limit.
  package var droppedCount: UInt64 { state.withLock { $0.table.droppedCount } }
  /// The memory that the lines take, in bytes.
  package var byteCount: Int { state.withLock { $0.table.byteCount } }
}
