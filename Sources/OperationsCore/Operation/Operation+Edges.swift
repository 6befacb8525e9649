// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// The edges of an operation that are stored neither in ``DependencyLinks`` nor alone in ``OperationExtra``.
///
/// Up to 63 of these edges are in an ``EdgeBlock``. If a further dependency has no place there, all dependencies
/// of the block move to an ``EdgeList`` of the ``RareState``. The same is true for dependents.
///
/// All methods have the precondition that the caller holds the operation's lock, unless their comments say
/// otherwise.
extension Operation {
  /// The block of edges; `nil` if there is none.
  final var edgesLocked: EdgeBlock? {
    let extra = extra.load(ordering: .acquiring)
    return extra.block ?? extra.rare?.edges
  }

  // MARK: Dependencies

  /// The dependencies after the first one, in the order in which they were added.
  final var furtherDependenciesLocked: [Operation] {
    let extra = extra.load(ordering: .acquiring)
    if let second = extra.dependency { return [second] }
    let few = edgesLocked?.dependencies.map { $0.takeUnretainedValue() } ?? []
    guard let more = extra.rare?.moreDependencies, !more.isEmpty else { return few }
    return few + more.operations.map { $0.takeUnretainedValue() }
  }

  /// Returns whether `operation` is a dependency after the first one.
  @inline(__always)
  final func isListedFurtherLocked(_ operation: Operation) -> Bool {
    let extra = extra.load(ordering: .acquiring)
    if extra.isNothing { return false }
    if let block = extra.block { return block.contains(dependency: operation) }
    if !extra.isRare { return extra.isDependency(operation) }
    return extra.rare.map { Self.lists($0, operation) } ?? false
  }

  @inline(never)
  private static func lists(_ rare: RareState, _ operation: Operation) -> Bool {
    if !rare.moreDependencies.isEmpty { return rare.moreDependencies.contains(operation) }
    return rare.edges?.contains(dependency: operation) ?? false
  }

  /// Adds a dependency. The operation has a first dependency, and a second edge of either kind.
  ///
  /// - Parameter dependency: The retained reference to the dependency.
  @inline(__always)
  final func listFurtherLocked(dependency: Unmanaged<Operation>) {
    if let block = extra.load(ordering: .relaxed).block, !block.isFull {
      block.append(dependency: dependency)
    } else {
      listElsewhereLocked(dependency: dependency)
    }
  }

  @inline(never)
  private final func listElsewhereLocked(dependency: Unmanaged<Operation>) {
    if let rare = extra.load(ordering: .relaxed).rare, !rare.moreDependencies.isEmpty {
      rare.moreDependencies.append(dependency)
    } else if let block = blockWithRoomLocked() {
      block.append(dependency: dependency)
    } else {
      let rare = rareLocked
      if let block = rare.edges {
        for dependency in block.dependencies { rare.moreDependencies.append(dependency) }
        block.removeAllDependencies()
      }
      rare.moreDependencies.append(dependency)
    }
  }

  /// Removes a dependency after the first one. The caller keeps the dependency alive.
  ///
  /// - Returns: Whether the dependency was in the list.
  final func unlistFurtherLocked(dependency: Operation) -> Bool {
    let extra = extra.load(ordering: .acquiring)
    if extra.isDependency(dependency) {
      self.extra.store(OperationExtra(), ordering: .relaxed)
      extra.release()
      return true
    }
    let removed =
      edgesLocked?.remove(dependency: dependency) ?? extra.rare?.moreDependencies.remove(dependency)
    removed?.release()
    return removed != nil
  }

  /// Removes and returns the second dependency, with its retained reference; `nil` if there is none.
  final func takeSecondDependencyLocked() -> Unmanaged<Operation>? {
    let extra = extra.load(ordering: .acquiring)
    if let dependency = extra.dependency {
      self.extra.store(OperationExtra(), ordering: .relaxed)
      return .passUnretained(dependency)
    }
    return edgesLocked?.removeFirstDependency() ?? extra.rare?.moreDependencies.removeFirst()
  }

  /// Removes and returns all dependencies. The caller keeps them alive.
  final func takeDependenciesLocked() -> [Operation] {
    let taken = dependenciesLocked
    links.firstDependency.take()?.release()
    while let next = takeSecondDependencyLocked() {
      next.release()
      if let rare = extra.load(ordering: .relaxed).rare, !rare.moreDependencies.isEmpty {
        for dependency in rare.moreDependencies.removeAll() { dependency.release() }
      }
    }
    return taken
  }

  // MARK: Dependents

  /// The dependents, in the order in which they were added.
  final var dependentsLocked: [Unmanaged<Operation>] {
    let extra = extra.load(ordering: .acquiring)
    let few = [links.firstDependent, extra.dependent].compactMap(\.self)
    let further = edgesLocked.map { Array($0.dependents) } ?? []
    return few + further + (extra.rare?.moreDependents.operations ?? [])
  }

  /// Adds a dependent. The operation has a first dependent, and a second edge of either kind.
  ///
  /// - Parameter dependent: The dependent, which has counted this operation as an unmet dependency.
  @inline(__always)
  final func listFurtherLocked(dependent: Unmanaged<Operation>) {
    if let block = extra.load(ordering: .relaxed).block, !block.isFull {
      block.append(dependent: dependent)
    } else {
      listElsewhereLocked(dependent: dependent)
    }
  }

  @inline(never)
  private final func listElsewhereLocked(dependent: Unmanaged<Operation>) {
    if let rare = extra.load(ordering: .relaxed).rare, !rare.moreDependents.isEmpty {
      rare.moreDependents.append(dependent: dependent)
    } else if let block = blockWithRoomLocked() {
      block.append(dependent: dependent)
    } else {
      let rare = rareLocked
      if let block = rare.edges {
        for dependent in block.dependents { rare.moreDependents.append(dependent) }
        block.removeAllDependents()
      }
      rare.moreDependents.append(dependent: dependent)
    }
  }

  /// Removes a dependent after the second one.
  ///
  /// - Returns: Whether the dependent was in the list.
  final func unlistFurtherLocked(dependent: Operation) -> Bool {
    let removed =
      edgesLocked?.remove(dependent: dependent)
      ?? extra.load(ordering: .acquiring).rare?.moreDependents.remove(dependent)
    return removed != nil
  }

  /// Removes the dependents of the block and of the list. The caller has finished the operation, and owns the
  /// references to the dependents.
  ///
  /// This method acquires the lock, because another thread may add a dependency at the same time, and thereby
  /// replace the block.
  ///
  /// - Returns: The number of dependents that were moved to `memory`, and the dependents of the list.
  final func takeFurtherDependents(
    _ memory: UnsafeMutableBufferPointer<Unmanaged<Operation>>
  ) -> (count: Int, more: [Unmanaged<Operation>]) {
    lock.lock()
    defer { lock.unlock() }
    let extra = extra.load(ordering: .acquiring)
    guard let block = extra.block ?? extra.rare?.edges else {
      return (0, extra.rare?.moreDependents.removeAll() ?? [])
    }
    let count = block.moveDependents(to: memory)
    if let rare = extra.rare {
      return (count, rare.moreDependents.isEmpty ? [] : rare.moreDependents.removeAll())
    }
    // Without dependencies, the block is no longer needed.
    if block.dependencyCount == 0 {
      self.extra.store(OperationExtra(), ordering: .releasing)
      block.free()
    }
    return (count, [])
  }

  // MARK: Memory

  /// Returns a block with a free place. Creates or replaces the block if necessary.
  ///
  /// - Returns: `nil` if the block is full and has the maximum capacity.
  private final func blockWithRoomLocked() -> EdgeBlock? {
    while true {
      let extra = extra.load(ordering: .acquiring)
      if let block = extra.block {
        if !block.isFull { return block }
        guard let larger = block.makingRoom() else { return nil }
        // While the word contains a block, only the thread that holds the lock changes the word.
        self.extra.store(OperationExtra(larger), ordering: .releasing)
        return larger
      }
      if let rare = extra.rare { return Self.blockWithRoom(of: rare) }
      let made = EdgeBlock()
      if let dependency = extra.dependency {
        made.append(dependency: .passUnretained(dependency))
        // The thread that finishes the operation only changes a word that contains a dependent.
        self.extra.store(OperationExtra(made), ordering: .releasing)
        return made
      }
      if let dependent = extra.dependent { made.append(dependent: dependent) }
      // If the exchange fails, the thread that finishes the operation has just removed the dependent, and the
      // loop repeats all steps without it.
      let (isExchanged, _) = self.extra.compareExchange(
        expected: extra, desired: OperationExtra(made), ordering: .sequentiallyConsistent)
      if isExchanged { return made }
      made.free()
    }
  }

  private static func blockWithRoom(of rare: RareState) -> EdgeBlock? {
    guard let block = rare.edges else {
      rare.edges = EdgeBlock()
      return rare.edges
    }
    if !block.isFull { return block }
    guard let larger = block.makingRoom() else { return nil }
    rare.edges = larger
    return larger
  }

  /// Releases the edges of the block and of the lists when the operation is destroyed. No lock is necessary.
  @inline(never)
  final func releaseFurtherEdges() {
    let extra = extra.load(ordering: .relaxed)
    if let block = extra.block ?? extra.rare?.edges {
      if extra.isRare {
        extra.rare?.edges = nil
      } else {
        self.extra.store(OperationExtra(), ordering: .relaxed)
      }
      for dependent in block.dependents { Self.countOffSilently(dependent) }
      block.removeAllDependents()
      ReleaseList.releaseDependencies(of: block, in: self)
    }
    guard let rare = extra.rare else { return }
    for dependency in rare.moreDependencies.removeAll() {
      ReleaseList.release(dependency.takeRetainedValue())
    }
    for dependent in rare.moreDependents.removeAll() + rare.requirers.removeAll() {
      Self.countOffSilently(dependent)
    }
  }
}
