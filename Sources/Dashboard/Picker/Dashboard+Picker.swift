// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// The picker, in which the user selects the source to watch.

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

  /// Chooses the selected process, in addition to those that the user has already chosen, and selects the next row. If
  /// the process is already chosen, it is no longer chosen.
  mutating func chooseRow() -> [Effect] {
    guard let picker, connection.opening == nil else { return [.bell] }
    let limit = ProcessReport.numbers.count
    guard case .process(let choice) = picker.selected else {
      show("the demo cannot be watched together with processes", isWarning: true)
      return [.bell]
    }
    if let refusal = choice.refusal {
      show("cannot attach to \(name(of: picker.selected)): \(refusal)", isWarning: true)
      return [.bell]
    }
    guard picker.chosen.count < limit || picker.chosen.contains(choice.id) else {
      show("at most \(limit) processes can be watched together", isWarning: true)
      return [.bell]
    }
    self.picker?.toggle(choice.id)
    move(by: 1)
    return []
  }

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

  /// Watches the chosen processes together or, if none is chosen, the selected source. If that is impossible, shows the
  /// reason.
  mutating func openChoice() -> [Effect] {
    guard let picker, connection.opening == nil else { return [.bell] }
    let source = picker.next
    if let row = picker.nextRow, let refusal = row.refusal {
      show("cannot attach to \(name(of: row)): \(refusal)", isWarning: true)
      return [.bell]
    }
    if isWatched(source) {
      self.picker = nil
      return []
    }
    if connection.source == .demo, live.endedReason == nil, unfinishedCount > 0 {
      prompts.question = Question(.open(source, name: name(of: source)), about: [])
      return []
    }
    return open(source)
  }

  /// The number of unfinished operations in all queues.
  var unfinishedCount: Int { live.counts.unfinished }

  /// Returns whether a source is watched and sends updates. The order of several processes does not matter.
  func isWatched(_ source: Source) -> Bool {
    guard !live.isSilent else { return false }
    if case .processes(let ids) = source, case .processes(let watched) = connection.source {
      return ids.count == watched.count && Set(ids) == Set(watched)
    }
    return source == connection.source
  }

  /// Returns whether a row's source is watched, alone or together with other processes.
  func includes(_ row: PickerState.Row) -> Bool {
    if case .processes(let ids) = connection.source, case .process(let choice) = row {
      return ids.contains(choice.id)
    }
    return row.source == connection.source
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

  /// Returns the name of a source of the picker for use in a sentence.
  func name(of source: Source) -> String {
    if case .processes(let ids) = source {
      return "\(ids.count) processes\(String(onHost: configuration.host))"
    }
    let row = picker?.rows.first { $0.source == source }
    return row.map { name(of: $0) } ?? "another process"
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
