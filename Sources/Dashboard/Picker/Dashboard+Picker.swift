// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// The picker, in which the user selects the source to watch.

extension Availability {
  /// Whether the user can choose several processes in the picker.
  static let severalProcesses = false
}

extension Dashboard {
  /// Performs an action of the picker.
  mutating func perform(_ key: KeyAction.Picker) -> [Effect] {
    switch key {
    case .open: openPicker()
    case .openChoice: return openChoice()
    case .lookAgain: return lookAgain()
    case .choose: return chooseRow()
    }
    return []
  }

  /// Chooses the selected process, in addition to those that the user has already chosen.
  mutating func chooseRow() -> [Effect] { [.bell] }

  /// Whether the picker is open.
  package var isPickerOpen: Bool { picker != nil }

  /// Opens the picker.
  mutating func openPicker() { picker = PickerState() }

  /// Closes the picker. If no source is watched, quits the program.
  mutating func closePicker() -> [Effect] {
    if connection.source == nil { return [.quit] }
    picker = nil
    return []
  }

  /// Asks the program to search for processes, if the picker is open and the time of the next search has
  /// come.
  mutating func lookIfDue() -> [Effect] {
    picker?.startLooking(at: now).map { [.findProcesses(isRequested: $0)] } ?? []
  }

  /// Asks the program to search for processes now.
  mutating func lookAgain() -> [Effect] {
    picker?.lookAgain(at: now) == true ? [] : [.bell]
  }

  /// Watches the selected source. If that is impossible, shows the reason.
  mutating func openChoice() -> [Effect] {
    guard let row = picker?.selected, connection.opening == nil else { return [.bell] }
    if let refusal = row.refusal {
      show("cannot attach to \(name(of: row)): \(refusal)", isWarning: true)
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

  /// The number of unfinished operations in all queues.
  var unfinishedCount: Int { live.counts.unfinished }

  /// Returns whether the row's source is watched and sends updates.
  func isWatched(_ row: PickerState.Row) -> Bool {
    row.source == connection.source && !live.isSilent
  }

  /// Asks the program to watch another source.
  mutating func open(_ source: Source) -> [Effect] {
    connection.opening = source
    return [.open(source)]
  }

  /// Shows the reason why a source cannot be watched.
  mutating func noteOpeningFailed(_ reason: String) {
    guard connection.opening != nil else { return }
    connection.opening = nil
    screen.notice = Notice(
      "cannot attach: \(reason)", isWarning: true, lifetime: .seconds(20), at: now)
  }

  /// Shows the reason why the processes of another machine could not be found. The rows of the picker do not change.
  mutating func noteFindingFailed(_ reason: String) {
    guard picker != nil else { return }
    picker?.noteFailure(at: now)
    show("cannot list the processes: \(reason)", isWarning: true)
  }

  /// Returns the name of a row's source for use in a sentence.
  func name(of row: PickerState.Row) -> String {
    switch row {
    case .process(let choice):
      "\(choice.programName.clipped(to: 24))[\(choice.processID)]\(String(onHost: configuration.host))"
    case .demo: "the demo"
    }
  }

  /// The number of rows on the screen for the picker's list.
  var pickerHeight: Int {
    screen.overlayLayout.map { PickerView.rows(in: $0, of: screen.size).count } ?? 1
  }
}
