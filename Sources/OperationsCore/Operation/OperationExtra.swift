// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// One tagged word for rarely used state. It contains a second dependency, a second dependent, an
/// ``EdgeBlock`` with several of them, or a ``RareState`` that contains all further state.
///
/// The word is written while the operation's lock is held, except by the one thread that has
/// finished the operation and removes its dependents. A `RareState` is never removed from the word,
/// so it can be found without the lock.
struct OperationExtra: RawRepresentable, AtomicRepresentable, Equatable {
  /// The address of an object or of an `EdgeBlock`. The two low bits contain the kind of the object:
  /// a `RareState`, a dependency, a dependent or an `EdgeBlock`.
  let rawValue: UInt

  private enum Kind {
    static let rare: UInt = 0
    /// The value of the two low bits if the word contains a dependency. The word retains the
    /// dependency.
    static let dependency: UInt = 1
    /// The value of the two low bits if the word contains a dependent. The word keeps the memory of
    /// the dependent valid, but does not keep the dependent alive.
    static let dependent: UInt = 2
    /// The value of the two low bits if the word contains an `EdgeBlock`. The word owns the block.
    static let block: UInt = 3
    static let mask: UInt = 3
  }

  init(rawValue: UInt) { self.rawValue = rawValue }

  /// Creates a word without a dependency, a dependent, a block or a `RareState`.
  init() { rawValue = 0 }

  /// Creates a value that contains a `RareState`, and retains it.
  init(_ rare: RareState) {
    rawValue = UInt(bitPattern: Unmanaged.passRetained(rare).toOpaque()) | Kind.rare
  }

  /// Creates a value with a dependency, which the value retains.
  init(dependency: Operation) {
    rawValue = UInt(bitPattern: Unmanaged.passRetained(dependency).toOpaque()) | Kind.dependency
  }

  /// Creates a value with a dependent.
  init(dependent: Unmanaged<Operation>) {
    rawValue = UInt(bitPattern: dependent.toOpaque()) | Kind.dependent
  }

  /// Creates a value with a block of edges, which the value owns.
  init(_ block: EdgeBlock) {
    rawValue = UInt(bitPattern: block.address) | Kind.block
  }

  var isNothing: Bool { rawValue == 0 }

  /// Whether the value contains a `RareState`, the object for rarely used data.
  @inline(__always)
  var isRare: Bool { rawValue != 0 && rawValue & Kind.mask == Kind.rare }

  var rare: RareState? {
    reference(of: Kind.rare).map { Unmanaged<RareState>.fromOpaque($0).takeUnretainedValue() }
  }

  /// The rarely used data without a retained reference. The operation keeps it until it is deallocated.
  var unretainedRare: Unmanaged<RareState>? {
    reference(of: Kind.rare).map { Unmanaged<RareState>.fromOpaque($0) }
  }

  var dependency: Operation? {
    reference(of: Kind.dependency).map {
      Unmanaged<Operation>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// Returns whether the value contains this dependency.
  @inline(__always)
  func isDependency(_ operation: Operation) -> Bool {
    rawValue == UInt(bitPattern: Unmanaged.passUnretained(operation).toOpaque()) | Kind.dependency
  }

  var dependent: Unmanaged<Operation>? {
    reference(of: Kind.dependent).map { Unmanaged<Operation>.fromOpaque($0) }
  }

  var block: EdgeBlock? { reference(of: Kind.block).map(EdgeBlock.init(address:)) }

  /// Gives the processor a hint that the object or the block in the value will soon be used.
  @inline(__always)
  func prefetch() {
    if let address = UnsafeRawPointer(bitPattern: rawValue) { csystem_prefetch_line(address) }
  }

  private func reference(of kind: UInt) -> UnsafeMutableRawPointer? {
    rawValue & Kind.mask == kind ? UnsafeMutableRawPointer(bitPattern: rawValue & ~Kind.mask) : nil
  }

  /// Releases the `RareState` or the dependency that this value retains. This method does not
  /// change a dependent, which keeps its own memory valid. It does not free a block.
  func release() {
    if let rare = reference(of: Kind.rare) {
      Unmanaged<RareState>.fromOpaque(rare).release()
    } else if let dependency = reference(of: Kind.dependency) {
      Unmanaged<Operation>.fromOpaque(dependency).release()
    }
  }
}
