// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Describes a warning and its fix.
struct WarningText {
  let monitored: MonitoredState
  let now: MonitorTime
  let glyphs: Glyphs
  /// The dashboard whose keys the text of a fix names; `nil` if the text names no keys.
  var dashboard: Dashboard?

  /// The maximum number of operations that a sentence about a warning names.
  private static let namedLimit = 4
  private static let nameLimit = 24
  /// The maximum length of an operation's name if the number of other operations follows the name.
  private static let shortNameLimit = 20

  /// Creates the texts about the warnings that a dashboard shows. The texts name the keys of the present view.
  init(dashboard: Dashboard, glyphs: Glyphs) {
    self.init(monitored: dashboard.shown, now: dashboard.shownTime, glyphs: glyphs)
    self.dashboard = dashboard
  }

  /// Creates texts that name no keys.
  init(monitored: MonitoredState, now: MonitorTime, glyphs: Glyphs) {
    (self.monitored, self.now, self.glyphs) = (monitored, now, glyphs)
  }

  /// Returns a description of the warning in one sentence.
  func sentence(_ warning: MonitorWarning) -> String {
    var subject: String {
      first(of: warning.operations, title: warning.title, count: warning.count)
    }
    let isOne = warning.count <= 1
    let noun = isOne ? "operation" : "operations"
    let readyCount = "\(CountText.text(warning.count)) ready \(noun)"
    let heldCount = "\(CountText.text(warning.count)) held \(noun)"
    switch warning.kind {
    case .cycle:
      return
        "\(CountText.text(warning.operations.count)) operations wait for each other: \(circle(warning))"
        + more(warning)
    case .slotDeadlock: return slotDeadlock(warning)
    case .neverEnqueuedDependency: return neverEnqueued(warning)
    case .cancelNotHonoured:
      return """
        \(subject) \(isOne ? "was" : "were") cancelled \(age(warning)) ago, still \
        \(isOne ? "runs" : "run")
        """
    case .notReadyWithMetDependencies:
      return "isReady of \(subject) has been false for \(age(warning))"
    case .mainQueueBlocked:
      return "the main queue has not started its \(readyCount) for \(age(warning))"
    case .finishedWithoutStart:
      let last = first(of: warning.operations, title: warning.title, count: 1)
      return warning.count == 1
        ? "\(last) finished without being started"
        : "\(CountText.text(warning.count)) operations finished without a start, last: \(last)"
    case .priorityInversion:
      let others = isOne ? "" : "; \(CountText.text(warning.count - 1)) more"
      let waiting = ranked(warning.operations.first, otherwise: "high")
      let awaited = ranked(warning.awaited.first, otherwise: "low")
      return "\(waiting) waits for \(awaited)\(others)"
    case .suspendedWithReady:
      return "queue \(queueName(warning)) has been suspended for \(age(warning)) with \(heldCount)"
    case .readyButNotStarted:
      return "queue \(queueName(warning)) has free slots but does not start its \(readyCount)"
    case .slow:
      let usual = warning.usual.map(TimeText.duration) ?? glyphs.unknown
      return
        "\(subject) \(isOne ? "has" : "have") run \(age(warning)); kind p99 is \(usual)"
    case .fanOut:
      let awaited = warning.operations.first.map { described($0) } ?? ""
      return "\(CountText.text(warning.count)) operations depend on \(awaited)"
    case .historyLost:
      return
        """
        \(CountText.text(warning.count)) state change\(isOne ? " was" : "s were") not recorded; \
        current states are exact
        """
    case .leaking:
      return "\(subject) \(isOne ? "is" : "are") in memory \(age(warning)) after finishing"
    case .threadLimit:
      let queues =
        warning.count == 1 ? "1 queue has" : "\(CountText.text(warning.count)) queues have"
      return "all \(CountText.text(warning.limit)) threads are in use; \(queues) no free thread"
    }
  }

  private func slotDeadlock(_ warning: MonitorWarning) -> String {
    """
    \(named(warning.operations, ", ")) \(verb("hold", warning.operations)) every slot of \
    \(queueName(warning)) and \(verb("wait", warning.operations)) for \
    \(named(warning.distinctAwaited, ", "))\(more(warning))
    """
  }

  private func neverEnqueued(_ warning: MonitorWarning) -> String {
    let awaited = warning.awaited.first.map { "\($0) " } ?? ""
    return """
      \(waiting(warning, ", ")) for \
      \(awaited)\(glyphs.clipped(warning.awaitedTitle, to: Self.nameLimit)), which is not enqueued\
      \(more(warning))
      """
  }

  /// Returns a short description of a deadlock for narrow screens.
  func shortSentence(_ warning: MonitorWarning) -> String {
    switch warning.kind {
    case .cycle: "cycle \(circle(warning))\(more(warning))"
    case .slotDeadlock:
      """
      \(named(warning.operations)) \(verb("hold", warning.operations)) \(queueName(warning)), \
      \(verb("wait", warning.operations)) for \(named(warning.distinctAwaited))
      """
    case .neverEnqueuedDependency: shortNeverEnqueued(warning)
    case .cancelNotHonoured, .notReadyWithMetDependencies, .mainQueueBlocked,
      .finishedWithoutStart, .priorityInversion, .suspendedWithReady, .readyButNotStarted, .slow,
      .fanOut, .historyLost, .leaking, .threadLimit:
      sentence(warning)
    }
  }

  /// Returns the operations that wait for an operation that is not enqueued, with the verb. If there are none, a
  /// task outside operations waits.
  private func waiting(_ warning: MonitorWarning, _ separator: String? = nil) -> String {
    let operations = warning.operations
    if operations.isEmpty { return "a task waits" }
    let names = separator.map { named(operations, $0) } ?? named(operations)
    return "\(names) \(verb("wait", operations))"
  }

  private func shortNeverEnqueued(_ warning: MonitorWarning) -> String {
    let awaited = warning.awaited.first.map { "\($0) " } ?? ""
    return """
      \(waiting(warning)) for \
      \(awaited)\(glyphs.clipped(warning.awaitedTitle, to: Self.nameLimit))
      """
  }

  private func circle(_ warning: MonitorWarning) -> String {
    let ids = warning.operations + warning.operations.prefix(1)
    let circle = ids.prefix(6).map { "\($0)" }.joined(separator: " \(glyphs.arrow) ")
    return ids.count > 6 ? "\(circle) \(glyphs.arrow) \(glyphs.ellipsis)" : circle
  }

  /// Returns a text about how to resolve the warning.
  func wayOut(_ warning: MonitorWarning) -> String {
    switch warning.kind {
    case .cycle: "cancel one operation" + keys(.command(.cancel), warning)
    case .slotDeadlock: "widen the queue" + keys(.queue(.widen), warning)
    case .neverEnqueuedDependency: enqueueOrCancel(warning)
    case .cancelNotHonoured: "check isCancelled"
    case .notReadyWithMetDependencies: "check the operation's isReady"
    case .mainQueueBlocked: "free the main thread"
    case .finishedWithoutStart: "set isFinished after start()"
    case .priorityInversion: "raise the low priority" + keys(.command(.raisePriority), warning)
    case .suspendedWithReady: "resume the queue" + keys(.queue(.toggleSuspended), warning)
    case .readyButNotStarted: "check for blocked threads"
    case .slow: cancelIfStuck(warning)
    case .fanOut: "use a barrier, not dependencies"
    case .historyLost: "filter to get fewer events" + keys(.list(.openFilter), warning)
    case .leaking: "release the operation"
    case .threadLimit: "block fewer threads at once"
    }
  }

  /// Returns the keys that perform an action about a warning, in parentheses after a space; empty if no keys
  /// do so from the present view.
  private func keys(_ action: KeyAction, _ warning: MonitorWarning) -> String {
    dashboard?.keys(for: action, about: warning).map { " (\($0))" } ?? ""
  }

  private func cancelIfStuck(_ warning: MonitorWarning) -> String {
    dashboard?.isReadOnly == false
      ? "if it is stuck, cancel it" + keys(.command(.cancel), warning) : "check if it is stuck"
  }

  private func enqueueOrCancel(_ warning: MonitorWarning) -> String {
    if warning.operations.isEmpty { return enqueue(warning) }
    // The key cancels one operation only, and the text names all.
    let keys = warning.operations.count == 1 ? keys(.command(.cancel), warning) : ""
    return "\(enqueue(warning)) or cancel \(named(warning.operations))\(keys)"
  }

  /// Returns a text for the fix "widen the queue". The text contains the name of the queue if the name makes
  /// the text shorter.
  private func shortWiden(_ warning: MonitorWarning) -> String {
    let (name, otherwise) = (queueName(warning), "the queue")
    let isShort = name.unicodeScalars.count < otherwise.count
    return "widen \(isShort ? name : otherwise)" + keys(.queue(.widen), warning)
  }

  /// Returns a text for the fix "enqueue an operation, or cancel the operations that wait for it". The text
  /// names at most one waiting operation.
  private func shortEnqueueOrCancel(_ warning: MonitorWarning) -> String {
    warning.operations.count == 1 ? enqueueOrCancel(warning) : enqueue(warning)
  }

  private func enqueue(_ warning: MonitorWarning) -> String {
    warning.awaited.first.map { "enqueue \($0)" } ?? "enqueue the dependency"
  }

  /// Returns a short text about how to resolve the warning, for narrow screens.
  func shortWayOut(_ warning: MonitorWarning) -> String {
    switch warning.kind {
    case .cycle: "cancel one" + keys(.command(.cancel), warning)
    case .slotDeadlock: shortWiden(warning)
    case .neverEnqueuedDependency: shortEnqueueOrCancel(warning)
    case .cancelNotHonoured, .notReadyWithMetDependencies, .mainQueueBlocked,
      .finishedWithoutStart, .priorityInversion, .suspendedWithReady, .readyButNotStarted, .slow,
      .fanOut, .historyLost, .leaking, .threadLimit:
      wayOut(warning)
    }
  }

  /// Returns one line for several warnings; `nil` if there are no warnings. The line has the first warning,
  /// the number of the other warnings and, if there is room, the fix for the first warning.
  func line(_ warnings: [MonitorWarning], width: Int) -> String? {
    guard let first = warnings.first else { return nil }
    let more = warnings.count > 1 ? "  (+\(warnings.count - 1))" : ""
    let line = "! \(sentence(first))\(more)"
    let whole = "\(line)  \(glyphs.arrow) \(wayOut(first))"
    return glyphs.width(of: whole) <= width ? whole : line
  }

  private func more(_ warning: MonitorWarning) -> String {
    let verb = warning.count == 1 ? "waits" : "wait"
    return warning.count > 0 ? "; \(CountText.text(warning.count)) more \(verb)" : ""
  }

  private func verb(_ word: String, _ operations: [OperationReport.ID]) -> String {
    operations.count == 1 ? "\(word)s" : word
  }

  private func named(_ ids: [OperationReport.ID], _ separator: String = " ") -> String {
    let names = ids.prefix(Self.namedLimit).map { "\($0)" }.joined(separator: separator)
    return ids.count > Self.namedLimit ? "\(names) +\(ids.count - Self.namedLimit)" : names
  }

  /// Returns the first operation's id and name, followed by the number of the other operations.
  private func first(
    of operations: [OperationReport.ID], title: String = "", count: Int
  ) -> String {
    let others = count > 1 ? " and \(CountText.text(count - 1)) more" : ""
    let first =
      operations.first.map {
        described($0, otherwise: title, limit: count > 1 ? Self.shortNameLimit : Self.nameLimit)
      } ?? glyphs.unknown
    return first + others
  }

  private func described(
    _ id: OperationReport.ID, otherwise title: String = "", limit: Int = nameLimit
  ) -> String {
    let name = monitored.operations[id]?.title ?? title
    return name.isEmpty ? "\(id)" : "\(id) \(glyphs.clipped(name, to: limit))"
  }

  /// Returns an operation's id with its priority, or with `priority` if the operation's priority is unknown.
  private func ranked(_ id: OperationReport.ID?, otherwise priority: String) -> String {
    guard let id else { return "an operation (\(priority))" }
    return "\(id) (\(monitored.operations[id]?.priority.word ?? priority))"
  }

  private func age(_ warning: MonitorWarning) -> String {
    warning.since.map { TimeText.duration(now - $0) } ?? glyphs.unknown
  }

  private func queueName(_ warning: MonitorWarning) -> String {
    let name = warning.queue.flatMap { monitored.queue($0)?.name }
    return glyphs.clipped(name ?? glyphs.unknown, to: Self.nameLimit)
  }
}
