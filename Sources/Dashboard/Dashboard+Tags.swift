// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// What keys act on: the tagged operations, or the selected one where none is tagged.

extension Dashboard {
  /// The operations that a command is about, ascending; on the screen of one operation that one.
  var commandTargets: [OperationReport.ID] {
    if let detail { return [detail.id] }
    return tags.isEmpty ? selectedOperation.map { [$0] } ?? [] : tags.sorted()
  }

  /// Tags the selected operation, or takes its tag, and goes on to the next row.
  mutating func toggleTag() -> [Effect] {
    guard let id = selectedOperation, let report = shown.operations[id] else { return [.bell] }
    if tags.remove(id) == nil {
      guard !report.state.isOver else {
        show("\(describe(id)) is over", isWarning: true)
        return [.bell]
      }
      tags.insert(id)
    }
    if detail == nil { move(by: 1) }
    return []
  }

  /// Tags the selected operation and all that depend on it.
  mutating func tagWithDependents() -> [Effect] {
    guard let id = selectedOperation, shown.operations[id]?.state.isOver == false else {
      return [.bell]
    }
    tags.insert(id)
    guard let dependents = live.dependents, dependents.subjects == [id] else {
      let words = isUnanswered ? "is not known here" : "is not known yet; c again"
      show("what depends on \(id) \(words)", isWarning: true)
      return [.bell]
    }
    tags.formUnion(dependents.ids)
    let count =
      CountText.text(dependents.ids.count) + (dependents.isCut ? ", and not the rest" : "")
    show("tagged \(id) and what depends on it: \(count)", isWarning: dependents.isCut)
    return []
  }

  mutating func untagAll() -> [Effect] {
    guard !tags.isEmpty else { return [.bell] }
    show("\(tags.count) no longer tagged")
    tags = []
    return []
  }

  /// Takes the tags of what is no longer kept, once the monitor had time to tell of it after the
  /// connection was lost.
  mutating func confirmTags(at time: MonitorTime) {
    guard let moment = tagsConfirmedBy, moment <= time else { return }
    tagsConfirmedBy = nil
    tags = tags.filter { live.operations[$0] != nil }
  }

  /// Takes the tags of what is over: nothing can be asked of it.
  mutating func dropTagsOfWhatIsOver() {
    guard !tags.isEmpty else { return }
    tags = tags.filter { live.operations[$0]?.state.isOver != true && !live.hasEnded($0) }
  }
}
