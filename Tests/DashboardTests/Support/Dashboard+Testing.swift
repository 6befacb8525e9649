// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

@testable import Dashboard

extension Dashboard {
  /// Presses keys given as characters, and returns all effects.
  @discardableResult
  mutating func press(_ keys: String) -> [Effect] {
    keys.unicodeScalars.flatMap { take(.input(.character($0))) }
  }

  /// Presses one key that has a name.
  @discardableResult
  mutating func press(_ key: Key) -> [Effect] { take(.input(.key(key))) }

  /// Takes in a message, and what a monitor answers at once to what is asked of it. Returns the
  /// other effects.
  @discardableResult
  mutating func take(_ message: Message) -> [Effect] {
    let effects = reduce(message)
    let isAsked = effects.contains { if case .watch = $0 { true } else { false } }
    // Who greets tells everything anew.
    let isGreeting = if case .monitor(.hello) = message { true } else { false }
    if isAsked { update(changed: isGreeting ? Array(live.operations.all) : []) }
    return effects.filter { if case .watch = $0 { false } else { true } }
  }

  /// Sends changed and removed operations, with the queues as they are, as a monitor does that tells
  /// everything.
  mutating func update(
    changed: [OperationReport] = [], removed: [OperationReport.ID] = [], at time: MonitorTime? = nil
  ) {
    let known = live.operations.all.filter { !removed.contains($0.id) }
    let monitor = FakeMonitor(known + changed)
    var update = monitor.update(
      for: connection.interest, queues: live.queues, changed: changed.map(\.id), removed: removed,
      lostChanges: live.lostChanges, warnings: live.warnings, at: time ?? now)
    update.times = live.times
    update.processes = live.processes
    update.runs = connection.interest.timeline == nil ? nil : live.runs ?? RecentRuns()
    update.events = connection.interest.eventLimit == 0 ? nil : EventNews()
    take(.monitor(.update(update)))
  }

  /// The picture at the last size heard of.
  func picture(isUnicode: Bool = true) -> Grid {
    view(size: screen.size, capabilities: Capabilities(isUnicode: isUnicode))
  }

  /// The picture's text, without trailing spaces.
  func text(isUnicode: Bool = true) -> [String] { picture(isUnicode: isUnicode).text }
}

extension Grid {
  /// The rows as text, without trailing spaces; what a person sees without colours.
  var text: [String] {
    (0..<size.rows).map { row in
      var line = String.UnicodeScalarView()
      for cell in self.row(row) where !cell.isContinuation {
        line.append(cell.scalar)
        if let mark = cell.mark { line.append(mark) }
      }
      while line.last == " " { line.removeLast() }
      return String(line)
    }
  }
}

extension Sequence<String> {
  /// Whether any line holds `part`.
  func shows(_ part: String) -> Bool { contains { $0.contains(part) } }
}

extension OperationReport.ID {
  /// Shortens tests.
  init(_ number: Int) { self.init(UInt64(number)) }
}

/// The same numbers for the same seed, everywhere.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  // SplitMix64: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014.
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
