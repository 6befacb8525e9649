// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension Operation {
  /// Whether the class of this operation, or one of its superclasses, overrides ``isReady``.
  @inline(__always)
  final var overridesReadiness: Bool {
    !isExactlyBlockOperation && ReadinessOverride.exists(in: type(of: self))
  }
}

/// Detects whether a class overrides ``Operation/isReady``. The property of a class without an
/// override is read less often.
///
/// The override of ``AsyncOperation`` does not count, because it only calls the base class.
///
/// Swift has no way to detect an override. But the object that describes a class has a table of the
/// addresses of its methods, and a subclass has each inherited method at the same index. To find
/// the index of the getter of `isReady`, this type compares the tables of three classes: the base
/// class, a subclass that overrides only `isReady`, and a subclass that overrides nothing. The
/// index is the only one at which the first subclass differs from the base class and the second one
/// does not. If there is no such index, or more than one, each class counts as a class with an
/// override, which costs time but is also correct.
enum ReadinessOverride {
  /// A class that overrides only `isReady`. No code calls the getter. Its value differs from the
  /// value of the base class, so that the compiler cannot use the code of the base class for it.
  private final class Overriding: Operation, @unchecked Sendable {
    override var isReady: Bool { !super.isReady }
  }

  /// A class that overrides nothing.
  private final class Inheriting: Operation, @unchecked Sendable {}

  private typealias Words = UnsafePointer<UInt>

  /// The index of the address of the getter of `isReady` in the table of methods, and the addresses
  /// of the getters of the base class and of ``AsyncOperation``.
  private static let getter: (place: Int, base: UInt, asynchronous: UInt)? = {
    let (base, overriding) = (words(of: Operation.self), words(of: Overriding.self))
    let inheriting = words(of: Inheriting.self)
    let places = tableRange(of: base).filter {
      overriding[$0] != base[$0] && inheriting[$0] == base[$0]
    }
    guard let place = places.first, places.count == 1 else { return nil }
    return (place, base[place], words(of: AsyncOperation<Void>.self)[place])
  }()

  /// Returns whether the class, or one of its superclasses, overrides ``Operation/isReady``.
  static func exists(in type: Operation.Type) -> Bool {
    guard let getter else { return true }
    let address = words(of: type)[getter.place]
    return address != getter.base && address != getter.asynchronous
  }

  private static func words(of type: Operation.Type) -> Words {
    unsafeBitCast(type, to: Words.self)
  }

  /// Returns the range of those words in a class object that a subclass inherits from the base
  /// class, such as the addresses of methods. The range begins after the words that describe only
  /// one class.
  ///
  /// The fifth word of a class object contains the size of the class object in bytes, and the
  /// number of bytes before the object's address.
  private static func tableRange(of base: Words) -> Range<Int> {
    let headerCount = 7
    let (size, before) = (Int(base[4] & 0xffff_ffff), Int(base[4] >> 32))
    let count = (size - before) / MemoryLayout<UInt>.size
    return headerCount..<min(max(headerCount, count), 512)
  }
}
