// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// Many dependencies, or many dependents, of one operation, in the order in which they were added. The
/// operation's lock guards the list.
///
/// The methods move references, and do not retain or release them, except for ``append(dependent:)``.
///
/// After the first removal, the list knows the position of each operation, so that the time of a removal does not
/// depend on the length of the list. A removed operation leaves an empty place. Empty places are removed when they
/// are more than half of all places.
struct EdgeList {
  private var places: [Unmanaged<Operation>?] = []
  /// The number of places that are not empty.
  private(set) var count = 0
  /// The index of the first place that may not be empty.
  private var start = 0
  /// The positions of the operations; `nil` until the first removal.
  private var positions: [UnsafeMutableRawPointer: Int]?
  /// The operations of the list, if duplicates are searched for; empty as long as `positions` exists.
  private var members: Set<UnsafeMutableRawPointer> = []
  private var searchesDuplicates = false

  var isEmpty: Bool { count == 0 }
  var capacity: Int { places.capacity }

  /// The operations, in the order in which they were added.
  var operations: [Unmanaged<Operation>] { places.compactMap(\.self) }

  /// Whether the list contains an operation.
  mutating func contains(_ operation: Operation) -> Bool {
    let searched = Unmanaged.passUnretained(operation).toOpaque()
    if let positions { return positions[searched] != nil }
    if !searchesDuplicates {
      searchesDuplicates = true
      members = Set(operations.map { $0.toOpaque() })
    }
    return members.contains(searched)
  }

  /// Adds an operation at the end.
  mutating func append(_ operation: Unmanaged<Operation>) {
    if positions != nil {
      positions?[operation.toOpaque()] = places.count
    } else if searchesDuplicates {
      members.insert(operation.toOpaque())
    }
    places.append(operation)
    count += 1
  }

  /// Adds a dependent at the end.
  ///
  /// An operation that never finishes would otherwise keep the memory of all its earlier dependents. Before the
  /// list grows, this method removes the operations that no longer exist.
  mutating func append(dependent: Unmanaged<Operation>) {
    if places.count == places.capacity, count > 0 {
      let capacity = places.capacity
      var kept: [Unmanaged<Operation>] = []
      for operation in operations {
        if swift_isDeallocating(operation.toOpaque()) {
          Operation.countOffSilently(operation)
        } else {
          kept.append(operation)
        }
      }
      replaceAll(with: kept)
      if kept.count > capacity / 2 { places.reserveCapacity(2 * capacity) }
    }
    append(dependent)
  }

  /// Removes an operation. If it is in the list more than once, this method removes one of its entries.
  ///
  /// - Returns: The reference to the operation; `nil` if the list does not contain it.
  mutating func remove(_ operation: Operation) -> Unmanaged<Operation>? {
    guard count > 0 else { return nil }
    if positions == nil { findPositions() }
    let searched = Unmanaged.passUnretained(operation).toOpaque()
    guard
      let position = positions?.removeValue(forKey: searched)
        ?? places.firstIndex(where: { $0?.toOpaque() == searched })
    else { return nil }
    return removePlace(position)
  }

  /// Removes the operation that was added first; `nil` if the list is empty.
  mutating func removeFirst() -> Unmanaged<Operation>? {
    guard count > 0 else { return nil }
    while places[start] == nil { start += 1 }
    if let first = places[start]?.toOpaque() {
      members.remove(first)
      if positions?[first] == start { positions?.removeValue(forKey: first) }
    }
    return removePlace(start)
  }

  /// Removes and returns all operations, in the order in which they were added.
  mutating func removeAll() -> [Unmanaged<Operation>] {
    defer { self = EdgeList() }
    return operations
  }

  private mutating func removePlace(_ position: Int) -> Unmanaged<Operation>? {
    let removed = places[position]
    places[position] = nil
    count -= 1
    if places.count >= EdgeBlock.maximumCapacity, count < places.count / 2 {
      replaceAll(with: operations)
    }
    return removed
  }

  private mutating func findPositions() {
    members = []
    positions = [:]
    positions?.reserveCapacity(count)
    for (index, operation) in places.enumerated() {
      if let operation { positions?[operation.toOpaque()] = index }
    }
  }

  private mutating func replaceAll(with kept: [Unmanaged<Operation>]) {
    places = kept
    count = kept.count
    start = 0
    if positions != nil { findPositions() }
  }
}
