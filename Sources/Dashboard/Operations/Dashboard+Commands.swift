// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Dashboard {
  /// Performs a command for operations, or tags operations for the next command.
  mutating func perform(_ key: KeyAction.Command) -> [Effect] {
    switch key {
    case .tag: toggleTag()
    case .tagWithDependents: tagWithDependents()
    case .untagAll: untagAll()
    case .cancel: askToCancel()
    case .retry: askToRetry()
    case .hold: setHeld(true)
    case .release: setHeld(false)
    case .armCancelKeys: armCancelKeys()
    case .raisePriority: changePriority(by: 1)
    case .lowerPriority: changePriority(by: -1)
    }
  }

  /// Performs an answer to the open question.
  mutating func perform(_ key: KeyAction.Answer) -> [Effect] {
    switch key {
    case .no: answerNo()
    case .yes: return answer(includingDependents: false)
    case .also: return answer(includingDependents: true)
    }
    return []
  }

  /// Asks the user whether to cancel the tagged operations or, if none of them is unfinished, the selected one.
  mutating func askToCancel() -> [Effect] {
    ask(about: targets(of: .cancel))
  }

  /// Shows that no operation is selected.
  mutating func refuseWithoutOperation() -> [Effect] {
    show("no operation is selected", isWarning: true)
    return [.bell]
  }

  private mutating func ask(about ids: [OperationReport.ID]) -> [Effect] {
    guard !refuses(ids) else { return [.bell] }
    guard !ids.isEmpty else { return refuseWithoutOperation() }
    let unfinished = unfinished(ids)
    guard !unfinished.isEmpty else { return refuseFinished(ids) }
    prompts.question = Question(.cancel, about: unfinished)
    noteDependents()
    return []
  }

  /// Adds the dependents that the monitor has reported to the open question, if they are the dependents of
  /// the question's operations.
  mutating func noteDependents() {
    guard let question = prompts.question, question.purpose == .cancel, question.dependents == nil,
      let dependents = live.dependents, dependents.subjects == Set(question.ids)
    else { return }
    prompts.question?.dependents = dependents
  }

  /// Quits the program. If tagged operations would end with the program, asks the user first.
  mutating func askToQuit() -> [Effect] {
    let tagged = unfinished(tags.ids.sorted())
    guard connection.source == .demo, live.endedReason == nil, !tagged.isEmpty else {
      return [.quit]
    }
    prompts.question = Question(.quit, about: tagged)
    return []
  }

  mutating func answerNo() {
    if let words = prompts.question?.purpose.refusalWords { show(words) }
    prompts.question = nil
  }

  /// Performs the action that the user has confirmed. For a question about cancellation, sends the command
  /// for all operations of the question that have not finished.
  mutating func answer(includingDependents: Bool) -> [Effect] {
    guard let question = prompts.question else { return [] }
    switch question.purpose {
    case .cancel: break
    case .quit: return includingDependents ? [.bell] : [.quit]
    case .open(let source, _):
      guard !includingDependents else { return [.bell] }
      prompts.question = nil
      return open(source)
    case .setSuspended(let id, let isSuspended):
      guard !includingDependents else { return [.bell] }
      prompts.question = nil
      return request(isSuspended, of: id)
    case .setStartLimit(let id, let limit):
      guard !includingDependents else { return [.bell] }
      prompts.question = nil
      return request(limit, of: id)
    case .retry:
      guard !includingDependents else { return [.bell] }
      prompts.question = nil
      return retry(question.ids)
    }
    let dependents = question.dependents?.ids ?? []
    if includingDependents, dependents.isEmpty { return [.bell] }
    prompts.question = nil
    let ids = question.ids + (includingDependents ? dependents : [])
    // If the dashboard no longer knows an operation, only the monitored process knows whether the operation
    // has finished. Therefore the command includes the operation.
    let unfinished = ids.filter { live.operations.state(of: $0)?.isOver != true }
    guard !unfinished.isEmpty else {
      let subject = ids.count == 1 ? "the operation has" : "the operations have"
      show("\(subject) already finished; nothing to cancel")
      return []
    }
    if unfinished.count < ids.count {
      let count = ids.count - unfinished.count
      let verb = count == 1 ? "has" : "have"
      show("\(CountText.text(count, "operation")) \(verb) already finished")
    }
    // The operations that the confirmation question names lose their tags, because the command is sent now.
    tags.ids.subtract(ids)
    return cancel(unfinished)
  }

  /// Sends the command to cancel these operations, and marks their rows when their states change.
  private mutating func cancel(_ ids: [OperationReport.ID]) -> [Effect] {
    list.cancelledRows.note(ids, in: list.rows, of: shown)
    return [.send(.cancel(ids))]
  }

  /// Whether rows have cancel keys: whether commands are accepted.
  var hasCancelKeys: Bool { refusal == nil }

  /// Whether the list has the column of cancel keys. While the connection is lost, the column stays and is
  /// blank, so that the other columns do not move.
  var hasCancelKeyColumn: Bool { hasCancelKeys || refusal == .disconnected }

  /// Activates the cancel keys that are printed on the rows of the list or the tree.
  mutating func armCancelKeys() -> [Effect] {
    guard !refuses([OperationReport.ID]()) else { return [.bell] }
    // On a screen that is too small for rows, no key is visible.
    guard screen.layout != nil else { return [.bell] }
    guard list.cancelKeys.hasKeys else {
      show("no operation on the screen can be cancelled", isWarning: true)
      return [.bell]
    }
    list.cancelKeys.arm()
    return []
  }

  /// Processes a key while the cancel keys are active.
  mutating func takeForCancelKeys(_ input: Input) -> [Effect] {
    guard case .character(let letter) = input, letter != "q", letter != "X" else {
      list.cancelKeys.disarm()
      return []
    }
    switch list.cancelKeys.type(letter) {
    case .prefix: return []
    case .none:
      show("no row has this cancel key", isWarning: true)
      return [.bell]
    case .operation(let id):
      guard connection.source == .demo else { return ask(about: [id]) }
      guard !unfinished([id]).isEmpty else { return refuseFinished([id]) }
      return cancel([id])
    }
  }

  /// Raises or lowers the priority of the tagged operations or, if none of them is unfinished, of the selected
  /// one, by one level.
  mutating func changePriority(by step: Int) -> [Effect] {
    let ids = targets(of: step > 0 ? .raisePriority : .lowerPriority)
    guard !refuses(ids) else { return [.bell] }
    guard !ids.isEmpty else { return refuseWithoutOperation() }
    let unfinished = unfinished(ids)
    guard !unfinished.isEmpty else { return refuseFinished(ids) }
    if unfinished.count == 1 { notePriorityChange(of: unfinished[0], by: step) }
    return [.send(.changePriority(unfinished, by: step))]
  }

  /// Notes the priority that an operation will have after the command. The message about the command's result
  /// contains this priority.
  private mutating func notePriorityChange(of id: OperationReport.ID, by step: Int) {
    let requested = list.priorityChanges.last { $0.id == id }?.new
    guard let old = requested ?? live.operations[id]?.priority else { return }
    let levels = OperationPriority.allCases.sorted()
    let index = (levels.firstIndex(of: old) ?? 0) + step
    let new = levels[min(max(0, index), levels.count - 1)]
    list.priorityChanges.append(PriorityChange(id: id, old: old, new: new))
  }

  /// Returns and removes the noted change of an operation's priority, after its result has arrived; `nil` if
  /// no change was noted.
  mutating func takePriorityChange(of id: OperationReport.ID) -> PriorityChange? {
    list.priorityChanges.firstIndex { $0.id == id }.map { list.priorityChanges.remove(at: $0) }
  }

  private mutating func refuseFinished(_ ids: [OperationReport.ID]) -> [Effect] {
    // While the newest events are followed, the monitor does not report the operation of an event. It does so after
    // a key has selected the event.
    if let event = selectedEvent, screen.view == .events, ids == [event.operation],
      !event.new.isOver, !live.operations.contains(event.operation)
    {
      show("the state of \(event.operation) is not known yet; press the key again")
      return [.bell]
    }
    show(
      ids.count == 1
        ? "\(ids.map { describe($0) }.joined()) has already finished"
        : "the tagged operations have already finished", isWarning: true)
    return [.bell]
  }
}

/// A change of one operation's priority that the user has requested.
struct PriorityChange: Sendable, Equatable {
  let id: OperationReport.ID
  /// The priority of the operation before the change.
  let old: OperationPriority
  /// The priority of the operation after the change.
  let new: OperationPriority

  /// A sentence with the old and the new priority, or that the operation already had the priority.
  var sentence: String {
    old == new ? "\(id) already has priority \(new.word)" : "\(id): \(old.word) → \(new.word)"
  }
}
