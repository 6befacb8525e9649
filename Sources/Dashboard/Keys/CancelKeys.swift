// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The keys printed on the rows, each of which cancels its operation after `X`.
///
/// A key belongs to an operation, not to a row: it stays with it while it is on screen, and is not
/// given to another one for 2 s after that, so that a late finger hits nothing or what it meant.
struct CancelKeys: Sendable, Equatable {
  /// What a typed letter led to.
  enum Match: Equatable {
    /// This operation's key is complete.
    case operation(OperationReport.ID)
    /// The first of two letters.
    case prefix
    /// No row has this key.
    case none
  }

  /// Whether `X` was pressed and the keys are live.
  private(set) var isArmed = false
  /// The letters typed so far of a key of two.
  private(set) var typed = ""

  private var keyIndexes: [OperationReport.ID: Int] = [:]
  private var reserved: [Int: MonitorTime] = [:]

  /// How long a key stays unused after its operation has left the screen.
  static let restingTime = Duration.seconds(2)

  /// Every key in the order in which they are given out. No key begins another one, and `q`, `x`,
  /// `n` and `y` mean other things.
  static let keys: [String] = {
    let letters = "asdfghjklwertuiop".map(String.init)
    return letters + "zcvbm".flatMap { first in letters.map { "\(first)\($0)" } }
  }()

  /// The key of an operation; `nil` where it has none.
  func key(of id: OperationReport.ID) -> String? { keyIndexes[id].map { Self.keys[$0] } }

  /// Gives keys to the operations on screen, from the top, and takes them from those that left it.
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

  /// Makes the keys live.
  mutating func arm() {
    isArmed = true
    typed = ""
  }

  /// Makes the keys inert again.
  mutating func disarm() {
    isArmed = false
    typed = ""
  }

  /// Takes a typed letter; anything but a first letter of two makes the keys inert again.
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
