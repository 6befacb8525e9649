// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// A block of memory with further dependencies and dependents of one operation. The operation's lock guards
/// the contents. The owner of a block frees it with ``free()``.
///
/// The dependencies begin at the first place and the dependents at the last one, so both use the same free
/// places. Dependencies are retained, and dependents are unowned-retained; see ``DependencyLinks``. The methods
/// of a block move references, and do not retain or release them.
///
/// A block is 8 bytes for the numbers and 8 bytes for each place. The smallest block is one line of the
/// processor's cache.
struct EdgeBlock {
  /// The capacity of the largest block. An operation with more edges has an ``EdgeList``.
  static let maximumCapacity = 63

  private struct Header {
    /// The size of the block: 0 for 7 places, 1 for 15, 2 for 31, and 3 for 63.
    let size: UInt8
    var dependencyCount: UInt8 = 0
    var dependentCount: UInt8 = 0

    @inline(__always)
    var capacity: Int { 8 << Int(size) - 1 }
  }

  private static let headerSize = 8

  /// The address of the block, which is a multiple of 64.
  let address: UnsafeMutableRawPointer

  init(address: UnsafeMutableRawPointer) { self.address = address }

  /// Creates an empty block of the smallest capacity.
  @inline(__always)
  init() { self.init(size: 0) }

  @inline(__always)
  private init(size: UInt8) {
    address = csystem_allocate_block(Int32(size))
    address.initializeMemory(as: Header.self, to: Header(size: size))
  }

  /// Frees the memory of the block. The caller has taken over the references.
  func free() { csystem_free_block(address, Int32(header.pointee.size)) }

  @inline(__always)
  private var header: UnsafeMutablePointer<Header> { address.assumingMemoryBound(to: Header.self) }

  /// The first place of the block.
  @inline(__always)
  private var places: UnsafeMutablePointer<Unmanaged<Operation>> {
    (address + Self.headerSize).assumingMemoryBound(to: Unmanaged<Operation>.self)
  }

  @inline(__always)
  var dependencyCount: Int { Int(header.pointee.dependencyCount) }
  @inline(__always)
  var dependentCount: Int { Int(header.pointee.dependentCount) }
  @inline(__always)
  var isFull: Bool { dependencyCount + dependentCount == header.pointee.capacity }

  /// The dependencies, in the order in which they were added.
  var dependencies: UnsafeMutableBufferPointer<Unmanaged<Operation>> {
    UnsafeMutableBufferPointer(start: places, count: dependencyCount)
  }

  /// The dependents. The one that was added last is the first one.
  @inline(__always)
  private var reversedDependents: UnsafeMutableBufferPointer<Unmanaged<Operation>> {
    let count = dependentCount
    return UnsafeMutableBufferPointer(
      start: places + header.pointee.capacity - count, count: count)
  }

  /// The dependents, in the order in which they were added.
  var dependents: ReversedCollection<UnsafeMutableBufferPointer<Unmanaged<Operation>>> {
    reversedDependents.reversed()
  }

  /// Whether the block contains a dependency.
  @inline(__always)
  func contains(dependency: Operation) -> Bool {
    let searched = Unmanaged.passUnretained(dependency).toOpaque()
    return dependencies.contains { $0.toOpaque() == searched }
  }

  /// Adds a dependency. The block must not be full.
  @inline(__always)
  func append(dependency: Unmanaged<Operation>) {
    places[dependencyCount] = dependency
    header.pointee.dependencyCount += 1
  }

  /// Adds a dependent. The block must not be full.
  @inline(__always)
  func append(dependent: Unmanaged<Operation>) {
    header.pointee.dependentCount += 1
    reversedDependents[0] = dependent
  }

  /// Removes a dependency.
  ///
  /// - Returns: The reference to the dependency; `nil` if the block does not contain it.
  func remove(dependency: Operation) -> Unmanaged<Operation>? {
    let searched = Unmanaged.passUnretained(dependency).toOpaque()
    let all = dependencies
    guard let index = all.firstIndex(where: { $0.toOpaque() == searched }) else { return nil }
    return remove(dependencyAt: index)
  }

  /// Removes the dependency that was added first; `nil` if the block contains none.
  func removeFirstDependency() -> Unmanaged<Operation>? {
    dependencyCount == 0 ? nil : remove(dependencyAt: 0)
  }

  private func remove(dependencyAt index: Int) -> Unmanaged<Operation> {
    let all = dependencies
    let removed = all[index]
    for later in index + 1..<all.count { all[later - 1] = all[later] }
    header.pointee.dependencyCount -= 1
    return removed
  }

  /// Removes a dependent.
  ///
  /// - Returns: The reference to the dependent; `nil` if the block does not contain it.
  func remove(dependent: Operation) -> Unmanaged<Operation>? {
    let searched = Unmanaged.passUnretained(dependent).toOpaque()
    guard let index = reversedDependents.lastIndex(where: { $0.toOpaque() == searched }) else {
      return nil
    }
    return remove(dependentAt: index)
  }

  /// Removes the dependent that was added first; `nil` if the block contains none.
  func removeFirstDependent() -> Unmanaged<Operation>? {
    dependentCount == 0 ? nil : remove(dependentAt: dependentCount - 1)
  }

  /// Removes the dependent at an index of ``reversedDependents``.
  private func remove(dependentAt index: Int) -> Unmanaged<Operation> {
    let all = reversedDependents
    let removed = all[index]
    for newer in stride(from: index, to: 0, by: -1) { all[newer] = all[newer - 1] }
    header.pointee.dependentCount -= 1
    return removed
  }

  /// Moves all dependents to memory that is not initialized, in the order in which they were added.
  ///
  /// - Returns: The number of dependents.
  func moveDependents(to memory: UnsafeMutableBufferPointer<Unmanaged<Operation>>) -> Int {
    let count = dependentCount
    let all = reversedDependents
    for index in 0..<count { memory.initializeElement(at: index, to: all[count - 1 - index]) }
    header.pointee.dependentCount = 0
    return count
  }

  /// Removes all dependencies from the block.
  func removeAllDependencies() { header.pointee.dependencyCount = 0 }

  /// Removes all dependents from the block.
  func removeAllDependents() { header.pointee.dependentCount = 0 }

  /// Removes the dependents that no longer exist.
  private func removeGoneDependents() {
    let all = reversedDependents
    var index = all.count
    while index > 0 {
      index -= 1
      guard swift_isDeallocating(all[index].toOpaque()) else { continue }
      Operation.countOffSilently(remove(dependentAt: index))
      return removeGoneDependents()
    }
  }

  /// Returns a block with the same contents and with free places, or this block if the removal of dependents
  /// that no longer exist has made places free. In the first case, this block has been freed.
  ///
  /// An operation that never finishes would otherwise keep the memory of all its earlier dependents.
  ///
  /// - Returns: `nil` if this block has the maximum capacity and is full of dependents that exist.
  func makingRoom() -> EdgeBlock? {
    let size = header.pointee.size
    // The smallest block is not searched, because it contains few dependents that no longer exist.
    if size > 0 {
      removeGoneDependents()
      if dependencyCount + dependentCount <= header.pointee.capacity / 2 { return self }
    }
    guard size + 1 < csystem_block_size_count else { return isFull ? nil : self }
    let new = EdgeBlock(size: size + 1)
    new.header.pointee.dependencyCount = header.pointee.dependencyCount
    new.header.pointee.dependentCount = header.pointee.dependentCount
    _ = new.dependencies.moveInitialize(fromContentsOf: dependencies)
    _ = new.reversedDependents.moveInitialize(fromContentsOf: reversedDependents)
    free()
    return new
  }
}
