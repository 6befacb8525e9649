// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// One word for what most operations have not, and few have more than one of: a second dependency, a
/// second dependent, or a ``RareState`` with everything.
///
/// Written while the operation's lock is held, but for the one thread that has finished the operation
/// and takes its dependents. Once there is a rare state it stays, so that this may be read without the
/// lock to find it.
struct OperationExtra: RawRepresentable, AtomicRepresentable, Equatable {
  /// An address, and in its two low bits what is there.
  let rawValue: UInt

  private enum Kind {
    static let rare: UInt = 0
    /// A retained operation.
    static let dependency: UInt = 1
    /// An unowned-retained operation.
    static let dependent: UInt = 2
    static let mask: UInt = 3
  }

  init(rawValue: UInt) { self.rawValue = rawValue }

  /// Nothing.
  init() { rawValue = 0 }

  /// Takes a reference.
  init(_ rare: RareState) {
    rawValue = UInt(bitPattern: Unmanaged.passRetained(rare).toOpaque()) | Kind.rare
  }

  /// Takes a reference.
  init(dependency: Operation) {
    rawValue = UInt(bitPattern: Unmanaged.passRetained(dependency).toOpaque()) | Kind.dependency
  }

  /// Takes over the unowned reference that the caller has made.
  init(dependent: Unmanaged<Operation>) {
    rawValue = UInt(bitPattern: dependent.toOpaque()) | Kind.dependent
  }

  var isNothing: Bool { rawValue == 0 }

  /// Whether there is a rare state.
  @inline(__always)
  var isRare: Bool { rawValue != 0 && rawValue & Kind.mask == Kind.rare }

  var rare: RareState? {
    reference(of: Kind.rare).map { Unmanaged<RareState>.fromOpaque($0).takeUnretainedValue() }
  }

  var dependency: Operation? {
    reference(of: Kind.dependency).map {
      Unmanaged<Operation>.fromOpaque($0).takeUnretainedValue()
    }
  }

  var dependent: Unmanaged<Operation>? {
    reference(of: Kind.dependent).map { Unmanaged<Operation>.fromOpaque($0) }
  }

  private func reference(of kind: UInt) -> UnsafeMutableRawPointer? {
    rawValue & Kind.mask == kind ? UnsafeMutableRawPointer(bitPattern: rawValue & ~Kind.mask) : nil
  }

  /// Gives up the reference. A dependent's, which is counted otherwise, is its owner's to give up.
  func release() {
    if let rare = reference(of: Kind.rare) {
      Unmanaged<RareState>.fromOpaque(rare).release()
    } else if let dependency = reference(of: Kind.dependency) {
      Unmanaged<Operation>.fromOpaque(dependency).release()
    }
  }
}
