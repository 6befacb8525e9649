// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The cancel keys: one or two letters that are printed on the row of each operation. If the user presses `X`
/// and then these letters, the dashboard cancels the operation, or first asks the user.
///
/// A cancel key belongs to an operation, not to a row. The operation keeps its key while it is on screen. For
/// 2 s after the operation has left the screen, no other operation gets the key. Therefore a late key press
/// cannot cancel another operation. When the user opens another view, its operations get new keys, so that they
/// have the keys with one letter.
struct CancelKeys: Sendable, Equatable {
  /// The result of a typed letter.
  enum Match: Equatable {
    /// The typed letters are the key of this operation.
    case operation(OperationReport.ID)
    /// The typed letter is the first letter of a key with two letters.
    case prefix
    /// No row has a key with the typed letters.
    case none
  }

  /// Whether the user has pressed `X`, so that the cancel keys are active.
  private(set) var isArmed = false
  /// The letters typed so far; empty unless the first letter of a two-letter key was typed.
  private(set) var typed = ""

  /// The view whose operations have the keys.
  private var view = ViewKind.operations
  private var keyIndexes: [OperationReport.ID: Int] = [:]
  private var reserved: [Int: MonitorTime] = [:]

  /// The time after an operation has left the screen during which no other operation gets its key.
  static let restingTime = Duration.seconds(2)

  /// All cancel keys, in the order in which operations get them. No key is the beginning of another key. The
  /// letters `q`, `x`, `n` and `y` are not used, because they have other meanings.
  static let keys: [String] = {
    let letters = "asdfghjklwertuiop".map(String.init)
    return letters + "zcvbm".flatMap { first in letters.map { "\(first)\($0)" } }
  }()

  /// Whether any operation has a cancel key.
  var hasKeys: Bool { !keyIndexes.isEmpty }

  /// Returns the cancel key of an operation; `nil` if the operation has none.
  func key(of id: OperationReport.ID) -> String? { keyIndexes[id].map { Self.keys[$0] } }

  /// Gives cancel keys to the operations on screen in a view, from the top, and removes the keys of operations
  /// that have left the screen.
  mutating func assign(to visible: [OperationReport.ID], in view: ViewKind, at now: MonitorTime) {
    if view != self.view { (self.view, keyIndexes, reserved) = (view, [:], [:]) }
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

  /// Activates the cancel keys.
  mutating func arm() {
    isArmed = true
    typed = ""
  }

  /// Deactivates the cancel keys.
  mutating func disarm() {
    isArmed = false
    typed = ""
  }

  /// Processes a typed letter. The cancel keys stay active only after the first letter of a two-letter key.
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
