// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Dashboard {
  /// Performs an action of the list of warnings.
  mutating func perform(_ key: KeyAction.Warnings) -> [Effect] {
    switch key {
    case .open:
      warningList = WarningListState()
    case .goTo:
      return goToWarning()
    case .showOperations:
      closeWarnings(showing: .operations)
      list.listing.showsWarnedOnly = true
    }
    return []
  }

  /// The selected warning; `nil` if the list of warnings is closed or empty.
  var selectedWarning: MonitorWarning? {
    warningList?.index(in: shown.warnings).map { shown.warnings[$0] }
  }

  /// Returns why an action is refused because the selected warning has ended; `nil` if the warning still exists,
  /// or if the action does not concern the warning.
  func warningRefusal(of action: KeyAction) -> String? {
    guard keyContext == .warnings, warningList?.isGhost == true else { return nil }
    let concernsWarning: Bool
    switch action {
    case .warnings(.goTo), .queue: concernsWarning = true
    // A command applies to the tagged operations, not to the selected warning.
    case .command(let command): concernsWarning = !appliesToTags(command)
    case .warnings, .program, .screen, .movement, .list, .tree, .timeline, .detail, .log, .picker,
      .queueScreen, .groups, .setup, .answer, .replay:
      concernsWarning = false
    }
    let way = shown.warnings.isEmpty ? "" : "; press j, k or g"
    return concernsWarning ? "the selected warning no longer exists\(way)" : nil
  }

  /// The number of screen rows that the list of warnings has for its contents.
  var warningListHeight: Int { max(1, screen.overlayLayout?.bodyHeight ?? 1) }

  /// Shows what the selected warning is about: its first operation in the list of operations or, if that list
  /// does not contain the operation, on the detail screen; otherwise its queue in the view of queues.
  private mutating func goToWarning() -> [Effect] {
    guard let warning = selectedWarning else { return [.bell] }
    if let id = warning.operations.first {
      guard shown.operations.contains(id) else {
        show("the details of \(id) are no longer stored", isWarning: true)
        return [.bell]
      }
      closeWarnings(showing: .operations)
      if !list.selection.select(id, in: list.rows, height: pageHeight) {
        detail = DetailState(id: id)
      }
      return []
    }
    guard let id = warning.queue else {
      show("this warning is about the whole process", isWarning: true)
      return [.bell]
    }
    closeWarnings(showing: .queues)
    queues.select(id, in: shown.queues, height: pageHeight)
    return []
  }

  /// The maximum number of times that the text of a fix repeats the key that selects the next warning.
  private static let mostRepeats = 4

  /// Returns the keys that perform an action about a warning from the present view, such as `! j +`; `nil` if
  /// no keys do so.
  ///
  /// If the action does not apply to the operation or the queue of the warning in the present view, the first
  /// keys open the list of warnings and select the warning.
  func keys(for action: KeyAction, about warning: MonitorWarning) -> String? {
    guard let binding = KeyTable.bindings.first(where: { $0.action == action }),
      case .character(let key) = binding.inputs.first,
      !binding.changesProcess || refusal(of: warning.operations) == nil
    else { return nil }
    if binding.contexts.contains(screenContext), applies(action, to: warning) { return "\(key)" }
    // A command applies to the tagged operations, not to the selected warning.
    let usesTags = if case .command(let command) = action { tagsMayAccept(command) } else { false }
    guard warningList == nil, !usesTags, binding.contexts.contains(.warnings),
      let index = shown.warnings.firstIndex(of: warning), index <= Self.mostRepeats
    else { return nil }
    // If the list shows only operations with warnings, the key `!` first shows all operations.
    let isOther = screenContext == .list && list.listing.showsWarnedOnly
    let steps = String(repeating: "j", count: index)
    return [isOther ? "! !" : "!", steps, "\(key)"].filter { !$0.isEmpty }.joined(separator: " ")
  }

  /// Returns whether an action in the present view applies only to what the warning is about.
  private func applies(_ action: KeyAction, to warning: MonitorWarning) -> Bool {
    switch action {
    case .command(let command):
      let subjects = command == .raisePriority ? warning.awaited : warning.operations
      let targets = targets(of: command)
      return !targets.isEmpty && targets.allSatisfy(subjects.contains)
    case .queue: return selectedQueue.map { $0.id == warning.queue } ?? false
    case .program, .screen, .movement, .list, .tree, .timeline, .detail, .log, .picker,
      .queueScreen, .groups, .setup, .warnings, .answer, .replay:
      return true
    }
  }

  private mutating func closeWarnings(showing view: ViewKind) {
    warningList = nil
    detail = nil
    screen.view = view
    layOut()
  }
}
