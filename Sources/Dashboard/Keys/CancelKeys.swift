// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The keys that are printed on the rows. After `X`, each of them cancels its operation.
///
/// A key belongs to an operation, not to a row. It stays with the operation while the operation is on screen.
/// It is not given to another operation for 2 s after that, so that a late key press has no effect, or hits
/// the intended operation.
struct CancelKeys: Sendable, Equatable {
  /// The result of a typed letter.
  enum Match: Equatable {
    /// This operation's key is complete.
    case operation(OperationReport.ID)
    /// The first of two letters.
    case prefix
    /// No row has this key.
    case none
  }

  /// Whether `X` was pressed and the keys are active.
  private(set) var isArmed = false
  /// The typed letters of a key with two letters.
  private(set) var typed = ""

  private var keyIndexes: [OperationReport.ID: Int] = [:]
  private var reserved: [Int: MonitorTime] = [:]

  /// How long a key remains unused after its operation has left the screen.
  static let restingTime = Duration.seconds(2)

  /// Every key in the order in which they are given to operations. No key is the beginning of another one.
  /// `q`, `x`, `n` and `y` have other meanings.
  static let keys: [String] = {
    let letters = "asdfghjklwertuiop".map(String.init)
    return letters + "zcvbm".flatMap { first in letters.map { "\(first)\($0)" } }
  }()

  /// Returns the key of an operation; `nil` if it has none.
  func key(of id: OperationReport.ID) -> String? { keyIndexes[id].map { Self.keys[$0] } }

  /// Gives keys to the operations on screen, from the top, and removes them from those that left it.
  mutating func assign(to visible: [OperationReport.ID], at now: MonitorTime) {
    let visibleIDs = Set(visible)
    for (id, index) in keyIndexes where !visibleIDs.contains(id) {
      keyIndexes[id] = nil
      reserved[index] = now + Self.restingTime
    }
    reserved = reserved.filter { $0.value > now }
    var used = Set(keyIndexes.values)
    used.formUnion(reserved.keys)
    var next = 0
    for id in visible where keyIndexes[id] == nil {
      while next < Self.keys.count, used.contains(next) { next += 1 }
      guard next < Self.keys.count else { return }
      keyIndexes[id] = next
      next += 1
    }
  }

  /// Activates the keys.
  mutating func arm() {
    isArmed = true
    typed = ""
  }

  /// Deactivates the keys.
  mutating func disarm() {
    isArmed = false
    typed = ""
  }

  /// Processes a typed letter. Every letter except the first of two deactivates the keys.
  mutating func type(_ letter: Unicode.Scalar) -> Match {
    let key = typed + String(Character(letter))
    if let match = keyIndexes.first(where: { Self.keys[$0.value] == key }) {
      disarm()
      return .operation(match.key)
    }
    if typed.isEmpty, keyIndexes.values.contains(where: { Self.keys[$0].hasPrefix(key) }) {
      typed = key
      return .prefix
    }
    disarm()
    return .none
  }
}
