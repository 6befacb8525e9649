// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the footer: the most important keys of the present view.
///
/// The place of a key depends only on the view and on the width of the screen, and not on the selection.
struct FooterView {
  let dashboard: Dashboard

  /// The number of spaces between two keys.
  private static let gap = 2

  func draw(row: Int, on canvas: inout Canvas) {
    let context = dashboard.keyContext
    let bindings = dashboard.footerBindings.filter { !concernsOtherSide($0) }
    let items = bindings.map { binding in
      return [
        Span(binding.footerKey, .accent, isBold: true),
        Span(" \(words(for: binding, in: context))"),
      ]
    }
    let glyphs = canvas.glyphs
    func width(_ item: [Span]) -> Int { item.reduce(Self.gap) { $0 + glyphs.width(of: $1.text) } }
    // The last key closes the view, so the footer always shows it. The other keys get the remaining room in
    // the order of their ranks.
    var room = canvas.columns.count - 1 + Self.gap - (items.last.map(width) ?? 0)
    var chosen: Set = [items.count - 1]
    for index in items.indices.dropLast().sorted(by: {
      rank(of: bindings[$0]) < rank(of: bindings[$1])
    }) where !chosen.contains(index) {
      let pair = KeyTable.footerPair(of: bindings[index].action)
      let together = items.indices.filter { pair.contains(bindings[$0].action) }
      let needed = together.reduce(0) { $0 + width(items[$1]) }
      guard needed <= room else { continue }
      chosen.formUnion(together)
      room -= needed
    }
    var column = 1
    for index in items.indices where chosen.contains(index) {
      let end = canvas.columns.upperBound
      let next = canvas.write(items[index], row: row, columns: column..<end)
      canvas.mark(.footer(bindings[index].action), row: row, columns: column..<next)
      column = next + Self.gap
    }
  }

  /// Returns whether a key of the setup has no effect on the side with the selected row.
  private func concernsOtherSide(_ binding: KeyBinding) -> Bool {
    guard let setup = dashboard.setup, setup.side == .settings else { return false }
    return [.setup(.moveUp), .setup(.moveDown), .setup(.automatic)].contains(binding.action)
  }

  /// Returns the footer's description of a key's action in a context. If the description changes while the
  /// view is shown, all forms of the description have the same width.
  private func words(for binding: KeyBinding, in context: KeyContext) -> String {
    let words = binding.footerWords[context] ?? ""
    if binding.action == .replay(.togglePlaying) {
      return dashboard.replay?.isPlaying == true ? "Pause" : "Play "
    }
    if binding.action == .queue(.toggleSuspended) {
      return dashboard.selectedQueue?.isSuspended == true ? "Resume " : "Suspend"
    }
    if binding.action == .setup(.increase), let setup = dashboard.setup, setup.side == .settings {
      return setup.selectedKey == .filter ? "Edit" : "Next"
    }
    if binding.action == .setup(.changeSide), dashboard.setup?.side == .settings {
      return "Columns "
    }
    if binding.action == .groups(.cycle), let groups = dashboard.groups { return groups.nextWords }
    if binding.action == .program(.close), context == .picker, dashboard.connection.source == nil {
      // If no source is watched yet, there is no view below the picker. Therefore the key that closes the
      // picker quits the program.
      return "Quit"
    }
    return words
  }

  /// Returns the rank of a key in the footer. A footer without room for all keys shows the keys with the
  /// lowest ranks.
  private func rank(of binding: KeyBinding) -> Int {
    // If the watched process has ended, the key that opens the picker is the most useful one, so it gets room
    // in the footer before other keys.
    let isWayOn = binding.action == .picker(.open) && dashboard.live.endedReason != nil
    if isWayOn { return -1 }
    // In the list, other keys are more useful than the key that groups the list.
    let isGrouping = binding.action == .groups(.cycle) && dashboard.shownGroups == nil
    return isGrouping ? KeyTable.bindings.count : KeyTable.footerRank(of: binding)
  }
}

extension Dashboard {
  /// The keys that have an effect in the present view and may be in its footer, in the order of the footer.
  var footerBindings: [KeyBinding] {
    let context = keyContext
    return (replay == nil ? KeyTable.bindings : ReplayKeys.all).filter {
      $0.footerWords[context] != nil && !($0.changesProcess && isReadOnly) && offers($0)
    }
  }
}
