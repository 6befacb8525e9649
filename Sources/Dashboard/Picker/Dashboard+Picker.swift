// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// Choosing what to watch.

extension Dashboard {
  /// Does what a key of the list of what can be watched says.
  mutating func perform(_ key: KeyAction.Picker) -> [Effect] {
    switch key {
    case .open: openPicker()
    case .openChoice: return openChoice()
    case .lookAgain: return lookAgain()
    }
    return []
  }

  /// Opens the list of what can be watched.
  mutating func openPicker() { picker = PickerState() }

  /// Closes it; or leaves the program where there is nothing to go back to.
  mutating func closePicker() -> [Effect] {
    if connection.source == nil { return [.quit] }
    picker = nil
    return []
  }

  /// Asks the program to look for processes, while the list is open and it is time to.
  mutating func lookIfDue() -> [Effect] {
    picker?.startLooking(at: now) == true ? [.findProcesses] : []
  }

  /// Looks for processes now.
  mutating func lookAgain() -> [Effect] {
    picker?.lookAgain(at: now) == true ? [] : [.bell]
  }

  /// Watches what is selected, or says why that cannot be.
  mutating func openChoice() -> [Effect] {
    guard let row = picker?.selected, connection.opening == nil else { return [.bell] }
    if let refusal = row.refusal {
      show("\(name(of: row)) cannot be attached to: \(refusal)", isWarning: true)
      return [.bell]
    }
    if isWatched(row) {
      picker = nil
      return []
    }
    if connection.source == .demo, live.endedReason == nil, unfinishedCount > 0 {
      prompts.question = Question(.open(row.source, name: name(of: row)), about: [])
      return []
    }
    return open(row.source)
  }

  /// How many operations have not finished, in all queues.
  var unfinishedCount: Int { live.counts.waiting + live.counts.ready + live.counts.executing }

  /// Whether this is what is watched, and is heard.
  func isWatched(_ row: PickerState.Row) -> Bool {
    row.source == connection.source && !live.isSilent
  }

  /// Has the program watch something else.
  mutating func open(_ source: Source) -> [Effect] {
    connection.opening = source
    return [.open(source)]
  }

  /// Says why something cannot be watched.
  mutating func noteOpeningFailed(_ reason: String) {
    guard connection.opening != nil else { return }
    connection.opening = nil
    screen.notice = Notice(
      "not opened: \(reason)", isWarning: true, lifetime: .seconds(20), at: now)
  }

  /// What a row is called in a sentence.
  func name(of row: PickerState.Row) -> String {
    switch row {
    case .process(let choice): "\(choice.programName.clipped(to: 24))[\(choice.processID)]"
    case .demo: "the demo"
    }
  }

  /// How many of its rows are on screen.
  var pickerHeight: Int {
    screen.overlayLayout.map { PickerView.rows(in: $0, of: screen.size).count } ?? 1
  }
}
