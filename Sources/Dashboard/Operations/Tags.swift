// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The operations that the user has tagged. A command applies to all of them.
struct Tags: Sendable {
  var ids: Set<OperationReport.ID> = []
  /// The time until which the monitor may report the tagged operations again after a new greeting. Operations
  /// that are not reported until this time lose their tags. It is `nil` if the tags need no check.
  var confirmedBy: MonitorTime?

  /// Removes the tags of operations that the monitor no longer keeps, if the time ``confirmedBy`` has come.
  mutating func confirm(with operations: OperationStore, at time: MonitorTime) {
    guard let moment = confirmedBy, moment <= time else { return }
    confirmedBy = nil
    ids = ids.filter { operations.contains($0) }
  }

  /// Removes the tags of operations that have ended, because they accept no commands.
  ///
  /// - Parameters:
  ///   - monitored: The state of the process.
  ///   - keepsRetryable: Whether the tags of operations stay that have failed or were cancelled, because their
  ///     jobs can be retried.
  mutating func dropOver(in monitored: MonitoredState, keepsRetryable: Bool) {
    guard !ids.isEmpty else { return }
    ids = ids.filter { id in
      let state = monitored.operations.state(of: id)
      let acceptsCommands =
        state?.isOver != true || keepsRetryable && state?.mayBeRetried == true
      return acceptsCommands && !monitored.hasEnded(id)
    }
  }
}

// The operations that keys act on: the tagged ones, or the selected one if no tagged one accepts the command.

extension Dashboard {
  /// Returns the operations that a command applies to, in ascending order. On the detail screen, a command
  /// applies only to the shown operation.
  func targets(of command: KeyAction.Command) -> [OperationReport.ID] {
    if let detail, warningList == nil { return [detail.id] }
    return appliesToTags(command) ? tags.ids.sorted() : selectedOperation.map { [$0] } ?? []
  }

  /// Returns whether a command applies to the tagged operations, and not to the selected one. If neither a tagged
  /// operation nor the selected one accepts the command, it applies to the tagged ones.
  func appliesToTags(_ command: KeyAction.Command) -> Bool {
    guard !tags.ids.isEmpty else { return false }
    let acceptsSelected = selectedOperation.map { mayAccept(command, $0) } ?? false
    return !acceptsSelected || tagsMayAccept(command)
  }

  /// Returns whether at least one tagged operation may accept a command. The tags of jobs that have failed stay,
  /// and such jobs can only be retried.
  func tagsMayAccept(_ command: KeyAction.Command) -> Bool {
    tags.ids.contains { mayAccept(command, $0) }
  }

  /// Returns whether an operation accepts a command, as far as the dashboard knows its state.
  private func mayAccept(_ command: KeyAction.Command, _ id: OperationReport.ID) -> Bool {
    guard !live.hasEnded(id) else { return false }
    guard let state = live.operations.state(of: id) else { return true }
    switch command {
    case .retry: return state.mayBeRetried && canRetry(id)
    case .hold, .release: return state.mayBeHeld
    case .tag, .tagWithDependents, .untagAll, .cancel, .armCancelKeys, .raisePriority,
      .lowerPriority:
      return !state.isOver
    }
  }

  /// Tags the selected operation or, if it is tagged, removes its tag. Then selects the next row.
  mutating func toggleTag() -> [Effect] {
    guard let id = selectedOperation, let report = shown.operations[id] else {
      return refuseWithoutOperation()
    }
    if tags.ids.remove(id) == nil {
      guard !report.state.isOver || canRetry && report.state.mayBeRetried else {
        show("\(describe(id)) has finished", isWarning: true)
        return [.bell]
      }
      tags.ids.insert(id)
    }
    if detail == nil { move(by: 1) }
    return []
  }

  /// Tags the selected operation and all its dependents.
  mutating func tagWithDependents() -> [Effect] {
    guard let id = selectedOperation else { return refuseWithoutOperation() }
    guard shown.operations.state(of: id)?.isOver == false else { return [.bell] }
    tags.ids.insert(id)
    guard let dependents = live.dependents, dependents.subjects == [id] else {
      show(
        isUnanswered
          ? "the dependents of \(id) are not known"
          : "the dependents of \(id) are not known yet; press c again", isWarning: true)
      return [.bell]
    }
    tags.ids.formUnion(dependents.ids)
    let count = dependents.ids.count
    let words =
      count == 0
      ? " (no dependents)" : " and \(CountText.text(count, "dependent"))"
    let limit = dependents.isCut ? " (limit reached)" : ""
    show("tagged \(id)\(words)\(limit)", isWarning: dependents.isCut)
    return []
  }

  mutating func untagAll() -> [Effect] {
    guard !tags.ids.isEmpty else { return [.bell] }
    show("untagged \(CountText.text(tags.ids.count, "operation"))")
    tags.ids = []
    return []
  }
}
