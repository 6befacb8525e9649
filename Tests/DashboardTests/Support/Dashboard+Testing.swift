// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

@testable import Dashboard

extension Dashboard {
  /// Presses keys that are given as characters, and returns all effects (the actions that the
  /// dashboard requests).
  @discardableResult
  mutating func press(_ keys: String) -> [Effect] {
    keys.unicodeScalars.flatMap { take(.input(.character($0))) }
  }

  /// Presses one key that has a name.
  @discardableResult
  mutating func press(_ key: Key) -> [Effect] { take(.input(.key(key))) }

  /// Processes a message. If the dashboard then requests an update from the monitor, sends this
  /// update too. Returns all effects except such requests.
  @discardableResult
  mutating func take(_ message: Message) -> [Effect] {
    let effects = reduce(message)
    let isAsked = effects.contains { if case .watch = $0 { true } else { false } }
    // After the greeting of a process, the monitor reports all operations again.
    let isGreeting = if case .monitor(.hello) = message { true } else { false }
    if isAsked { update(changed: isGreeting ? Array(live.operations.all) : []) }
    return effects.filter { if case .watch = $0 { false } else { true } }
  }

  /// Sends an update with changed and removed operations to the dashboard. The queues are
  /// unchanged, and the number of operations is not limited.
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
    if connection.interest.runOrder != nil { update.runOrders = Array(live.runOrders.values) }
    if connection.interest.groups?.by == live.groups?.by { update.groups = live.groups }
    update.runs = connection.interest.timeline == nil ? nil : live.runs ?? RecentRuns()
    update.events = connection.interest.eventLimit == 0 ? nil : EventNews()
    take(.monitor(.update(update)))
  }

  /// Returns the screen contents, in the last reported size.
  func picture(isUnicode: Bool = true) -> Grid {
    view(size: screen.size, capabilities: Capabilities(isUnicode: isUnicode))
  }

  /// Returns the text of the screen contents, without trailing spaces.
  func text(isUnicode: Bool = true) -> [String] { picture(isUnicode: isUnicode).text }
}

extension Effect {
  /// Whether the effect sends a command to the monitored process.
  var isCommand: Bool { if case .send = self { true } else { false } }
}

extension Grid {
  /// The text of each row, without trailing spaces.
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
  /// Returns whether any line contains `part`.
  func shows(_ part: String) -> Bool { contains { $0.contains(part) } }
}

extension OperationReport.ID {
  /// Creates an id from an `Int`, so that tests need no conversion.
  init(_ number: Int) { self.init(UInt64(number)) }
}

/// A generator of random numbers. It generates the same numbers for the same seed, on every
/// platform.
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

extension OperationStore {
  /// Returns a store of operations with these dependencies. Operations wait if `states` has no other
  /// state for them. If each operation has its own class, no row of the tree represents several
  /// operations.
  static func make(
    _ dependencies: [Int: [Int]], states: [Int: OperationState] = [:], hasClasses: Bool = false
  ) -> OperationStore {
    var store = OperationStore()
    let ids = Set(dependencies.keys).union(dependencies.values.joined())
    let dependentCounts = Dictionary(
      dependencies.values.lazy.flatMap(Set.init).map { ($0, 1) }, uniquingKeysWith: +)
    store.apply(
      changed: ids.map { id in
        OperationReport(
          id: OperationReport.ID(id), name: "", className: hasClasses ? "Class\(id)" : "Block",
          queue: Scene.io, state: states[id] ?? .waiting,
          dependencies: (dependencies[id] ?? []).map { OperationReport.ID($0) },
          dependentCount: dependentCounts[id] ?? 0)
      }, removed: [])
    return store
  }
}
