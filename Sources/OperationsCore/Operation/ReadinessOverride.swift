// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension Operation {
  /// Whether the class of this operation, or a class that it inherits from, overrides ``isReady``.
  @inline(__always)
  final var overridesReadiness: Bool {
    !isExactlyBlockOperation && ReadinessOverride.exists(in: type(of: self))
  }
}

/// Finds out whether a class overrides ``Operation/isReady``: a class that does not is asked less often.
///
/// The override of ``AsyncOperation`` does not count: it only asks the base class.
///
/// The language has no way to ask that. But the object that describes a class has a table of the addresses
/// of its methods, and a subclass has each inherited method at the same place. The place of this one is the
/// only word in which a class that overrides nothing else differs from the base class, and in which a class
/// that overrides nothing does not. If there is no such word, each class counts as one that overrides it.
/// That costs time and is correct too.
enum ReadinessOverride {
  /// Overrides nothing else. Nothing calls the getter. Its answer is another one, so that the compiler cannot
  /// use the code of the base class for it.
  private final class Overriding: Operation, @unchecked Sendable {
    override var isReady: Bool { !super.isReady }
  }

  /// Overrides nothing.
  private final class Inheriting: Operation, @unchecked Sendable {}

  private typealias Words = UnsafePointer<UInt>

  /// Which word is the address of the getter, and the address in the base class and in ``AsyncOperation``.
  private static let getter: (place: Int, base: UInt, asynchronous: UInt)? = {
    let (base, overriding) = (words(of: Operation.self), words(of: Overriding.self))
    let inheriting = words(of: Inheriting.self)
    let places = tableRange(of: base).filter {
      overriding[$0] != base[$0] && inheriting[$0] == base[$0]
    }
    guard let place = places.first, places.count == 1 else { return nil }
    return (place, base[place], words(of: AsyncOperation<Void>.self)[place])
  }()

  /// Whether the class, or a class that it inherits from, overrides ``Operation/isReady``.
  static func exists(in type: Operation.Type) -> Bool {
    guard let getter else { return true }
    let address = words(of: type)[getter.place]
    return address != getter.base && address != getter.asynchronous
  }

  private static func words(of type: Operation.Type) -> Words {
    unsafeBitCast(type, to: Words.self)
  }

  /// The words that a subclass has too, behind those of which each class has its own.
  ///
  /// The size of the object in bytes, and how many of these are before its address, are in the fifth word.
  private static func tableRange(of base: Words) -> Range<Int> {
    let headerCount = 7
    let (size, before) = (Int(base[4] & 0xffff_ffff), Int(base[4] >> 32))
    let count = (size - before) / MemoryLayout<UInt>.size
    return headerCount..<min(max(headerCount, count), 512)
  }
}
