// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Dashboard {
  // MARK: Messages

  /// Processes a message of the monitored process. Returns the effects of a key that has waited for it.
  mutating func reduce(_ message: MonitorMessage) -> [Effect] {
    var effects: [Effect] = []
    let before = live.processes
    if case .hello(let hello) = message { begin(hello) } else { live.apply(message) }
    switch message {
    case .hello, .silent:
      break
    case .disconnected:
      noteDisconnection()
    case .ended:
      noteEnd()
    case .update(let update):
      // The updates of a recording have times of the recorded process's clock, so they do not set the current
      // time.
      if replay == nil { now = max(now, update.time) }
      tags.confirm(with: live.operations, at: update.time)
      queueRequests.settle(in: live, at: update.time)
      noteDependents()
      selectMatch()
      effects = goToAwaitedBlocker()
      noteEnds(since: before)
      closeQuestionAboutWhatIsOver()
    case .commandResult(let result):
      announce(result)
    }
    if paused == nil { settle() }
    return effects
  }

  /// Shows the result of a command as a sentence.
  private mutating func announce(_ result: CommandResult) {
    switch result.command {
    case .cancel(let ids), .cancelWithDependents(let ids):
      announce(
        ids, result.outcomes, done: "cancel requested", refused: result.words(for: "not cancelled"))
    case .changePriority(let ids, let steps):
      let change = ids.count == 1 ? takePriorityChange(of: ids[0]) : nil
      if let change, result.outcomes.first == .requested { return show(change.sentence) }
      announce(
        ids, result.outcomes, done: "priority \(steps > 0 ? "raised" : "lowered")",
        refused: result.words(for: "not changed"))
    case .setHeld(let ids, let isHeld):
      announce(
        ids, result.outcomes, done: isHeld ? "held" : "released",
        refused: result.words(for: isHeld ? "not held" : "not released"))
    case .retry(let ids, _):
      announceRetry(of: ids, result)
    case .setSuspended, .setWidth, .setStartLimit:
      announceQueue(result)
    }
  }

  /// The reason why a command has no result. Either the connection was lost, or the time to wait for an
  /// answer of several processes has passed.
  var lostWords: String {
    live.processes.isEmpty ? "the connection was lost" : "no answer"
  }

  /// Shows the outcomes of a command for operations as a sentence.
  ///
  /// - Parameters:
  ///   - ids: The operations.
  ///   - outcomes: The outcomes, in the order of the operations.
  ///   - done: The words for operations for which the process has carried out the command.
  ///   - notRetryable: The words for jobs that are not retried.
  ///   - refused: The words for operations for which the source does not carry out the command.
  mutating func announce(
    _ ids: [OperationReport.ID], _ outcomes: [CommandResult.Outcome], done: String,
    notRetryable: String = "not retried", refused: String = "refused"
  ) {
    if let id = ids.first, ids.count == 1 {
      let what = describe(id)
      switch outcomes.first ?? .unknown {
      case .requested: show("\(done): \(what)")
      case .alreadyFinished: show("\(what) had already finished")
      case .unknown: show("\(what) is not known to the process", isWarning: true)
      case .notRetryable: show("\(what) \(notRetryable)", isWarning: true)
      case .refused: show("\(what) \(refused)", isWarning: true)
      case .denied: show("denied: the process is monitored read-only", isWarning: true)
      case .lost: show("\(what): result unknown, \(lostWords)", isWarning: true)
      }
      return
    }
    func part(_ outcome: CommandResult.Outcome, _ words: String) -> String? {
      let count = outcomes.count { $0 == outcome }
      return count == 0 ? nil : "\(CountText.text(count)) \(words)"
    }
    let unknown = outcomes.count { $0 == .unknown } == 1 ? "is not known" : "are not known"
    let others = [
      part(.alreadyFinished, "had already finished"), part(.unknown, "\(unknown) to the process"),
      part(.denied, "denied"), part(.lost, "without a result: \(lostWords)"),
      part(.notRetryable, notRetryable), part(.refused, refused),
    ].compactMap { $0 }
    let requested = outcomes.count { $0 == .requested }
    let first = "\(done): \(CountText.text(requested, "operation"))"
    show(([first] + others).joined(separator: ", "), isWarning: requested == 0)
  }

  /// Returns the id of an operation and, if the dashboard still knows the operation, its name. The text is
  /// cut to fit into a sentence.
  func describe(_ id: OperationReport.ID) -> String {
    guard let report = live.operations[id], !report.title.isEmpty else { return "\(id)" }
    return "\(id) \(report.title.clipped(to: 40))"
  }

  /// Shows a sentence until the user presses a key, for at most 5 s.
  mutating func show(_ text: String, isWarning: Bool = false) {
    screen.notice = Notice(text, isWarning: isWarning, at: now)
  }

  /// Closes the open question to the user if all operations of the question have finished, or if its queue no
  /// longer exists.
  private mutating func closeQuestionAboutWhatIsOver() {
    switch prompts.question?.purpose {
    case .setSuspended(let id, _), .setStartLimit(let id, _): return closeQuestion(about: id)
    case .cancel, .retry, .quit, .open, nil: break
    }
    guard let question = prompts.question, !question.ids.isEmpty, unfinished(question.ids).isEmpty
    else { return }
    let ids = question.ids
    // The operations of a question about a retry have ended before it.
    if question.purpose == .retry, !ids.allSatisfy({ live.hasEnded($0) }) { return }
    prompts.question = nil
    if ids.contains(where: { live.hasEnded($0) }) {
      let words = question.purpose.refusalWords ?? "not cancelled"
      return show("\(words): the operation's process has ended", isWarning: true)
    }
    let named = ids.prefix(4).map { describe($0) }.joined(separator: ", ")
    let more = ids.count > 4 ? " and \(CountText.text(ids.count - 4)) more" : ""
    show(
      "\(named)\(more) finished; \(question.purpose == .cancel ? "nothing to cancel" : "press q to quit")"
    )
  }

  private mutating func closeQuestion(about id: QueueReport.ID) {
    guard let words = prompts.question?.purpose.refusalWords else { return }
    let exists = live.queue(id) != nil
    guard !exists || live.hasEnded(id) else { return }
    prompts.question = nil
    show(
      "\(words): \(exists ? "the queue's process has ended" : "the queue no longer exists")",
      isWarning: true)
  }

  /// Returns the operations of `ids` that the dashboard still knows, that have not finished, and whose
  /// process has not ended.
  func unfinished(_ ids: [OperationReport.ID]) -> [OperationReport.ID] {
    ids.filter { live.operations.state(of: $0)?.isOver == false && !live.hasEnded($0) }
  }

  // MARK: Interest

  /// The data that the dashboard requests from the monitor: the data on the screen, and data about the
  /// operations that keys would act on.
  var wantedInterest: Interest {
    var interest = Interest(
      order: list.listing.order, filter: list.listing.filter, hidesOver: list.listing.hidesOver,
      rowLimit: ListRows.limit)
    interest.showsWarnedOnly = list.listing.showsWarnedOnly
    // While the newest event is selected, the events themselves have all that the screen shows. A new interest
    // for each new event would make the monitor send an update at once, which would have new events again.
    // The same applies to the operation that a queue starts next, which is requested once a second.
    let isFollowing = followsEvents || followsNextOperation
    let selected = isFollowing ? nil : self.selected
    let selectedOperation = isFollowing ? nil : self.selectedOperation
    interest.subjects = Set(prompts.question?.ids ?? selectedOperation.map { [$0] } ?? [])
    interest.operations = interest.subjects.union(tags.ids).union(list.cancelledRows.ids)
    if let id = prompts.goTo?.id { interest.operations.insert(id) }
    if let selected {
      interest.operations.insert(selected)
      // The interest includes all dependencies of the selected operation that its sentence counts.
      let dependencyCount = shown.operations.dependencyCount(of: selected)
      let limit = hasPane ? Self.paneGraphLimit : Self.sentenceGraphLimit
      interest.graphs.insert(
        Interest.Graph(
          root: selected, direction: .waitsFor,
          limit: max(limit, min(dependencyCount, Explanation.lookLimit) + 1)))
      if hasPane {
        interest.graphs.insert(
          Interest.Graph(root: selected, direction: .blocks, limit: Self.paneGraphLimit))
      }
    }
    if screen.view == .tree, let tree {
      if let root = tree.tree.root {
        interest.graphs.insert(
          Interest.Graph(root: root, direction: tree.direction, limit: TreeState.rowLimit))
      } else {
        interest.rootLimit = TreeState.rowLimit
        // Requests the path from the roots to the operation, because the tree is unfolded to it.
        if let opened = tree.opened {
          interest.operations.insert(opened)
          interest.graphs.insert(
            Interest.Graph(root: opened, direction: .blocks, limit: TreeState.rowLimit))
        }
      }
    }
    if warningList != nil {
      let named = shown.warnings.prefix(Self.namedWarningLimit).compactMap(\.operations.first)
      interest.operations.formUnion(named)
    }
    // The detail contains the operations that hold up the selected operation. The key `b` goes to them.
    interest.detail =
      detail?.id
      ?? selectedOperation.flatMap { id in
        shown.operations.state(of: id)?.isOver == false ? id : nil
      }
    interest.logs = .operations(Set(detail.map { [$0.id] } ?? []))
    interest.search = wantedSearch
    if screen.view == .events { interest.eventLimit = EventLog.limit }
    if screen.view == .timeline {
      interest.timeline = Interest.Timeline(
        window: timeline.window, limit: TimelineState.runLimit)
    }
    interest.warningKinds = configuration.warningKinds
    addQueueInterest(to: &interest)
    addGroupInterest(to: &interest)
    addColumnInterest(to: &interest)
    return interest
  }

  /// The maximum number of operations that the dashboard requests for each dependency graph in the pane
  /// beside the list.
  static let paneGraphLimit = 300
  private static let sentenceGraphLimit = 64
  /// The maximum number of warnings whose operations the dashboard requests for the list of warnings.
  private static let namedWarningLimit = 200
}
