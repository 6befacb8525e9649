// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// Jobs that the user retries. Most processes have no jobs and cannot do this.

extension Dashboard {
  /// Whether the watched process can retry jobs. If several processes are watched, whether at least
  /// one of them can.
  var canRetry: Bool {
    live.processes.isEmpty
      ? live.hello?.canRetry == true : live.processes.contains(where: \.hello.canRetry)
  }

  /// Returns whether the help and the footer show a key. The key of an action that the watched process cannot
  /// perform is not shown.
  func offers(_ binding: KeyBinding) -> Bool {
    switch binding.action {
    case .command(.retry): canRetry
    case .command(.hold), .command(.release): canHold
    case .program, .screen, .movement, .list, .tree, .timeline, .detail, .log, .picker, .command,
      .queue, .queueScreen, .groups, .setup, .warnings, .answer, .replay:
      true
    }
  }

  /// Returns whether the process of an operation can retry jobs.
  func canRetry(_ id: OperationReport.ID) -> Bool {
    (live.process(of: id)?.hello ?? live.hello)?.canRetry == true
  }

  /// Returns the operations of `ids` that have failed or were cancelled, and whose process can retry jobs
  /// and has not ended.
  private func retryable(_ ids: [OperationReport.ID]) -> [OperationReport.ID] {
    ids.filter {
      live.operations.state(of: $0)?.mayBeRetried == true && canRetry($0) && !live.hasEnded($0)
    }
  }

  /// Asks the user whether to retry the jobs of the tagged operations or, if none of them can be retried, the job of
  /// the selected one.
  mutating func askToRetry() -> [Effect] {
    let ids = targets(of: .retry)
    guard !refuses(ids) else { return [.bell] }
    guard ids.isEmpty ? canRetry : ids.contains(where: { canRetry($0) }) else {
      show(CommandResult.cannotRetry, isWarning: true)
      return [.bell]
    }
    let isAboutQueue = warningList == nil && screen.view == .queues
    guard !ids.isEmpty || isAboutQueue else { return refuseWithoutOperation() }
    let retryable = retryable(ids)
    guard !retryable.isEmpty else {
      show(retryRefusal(of: ids), isWarning: true)
      return [.bell]
    }
    prompts.question = Question(.retry, about: retryable)
    return []
  }

  /// Returns a sentence with the reason why the jobs of none of these operations can be retried. The view of queues
  /// has no selected operation, so its commands need a tagged one.
  private func retryRefusal(of ids: [OperationReport.ID]) -> String {
    guard let id = ids.first else { return "no operation is tagged" }
    guard ids.count == 1 else { return "none of the tagged operations has failed or was cancelled" }
    switch live.operations.state(of: id) {
    case nil: return "the state of \(id) is not known yet; press the key again"
    case .finished: return "\(describe(id)) has succeeded"
    case let state?: return "\(describe(id)) \(state.isOver ? "has ended" : "has not ended")"
    }
  }

  /// Sends the command to retry the jobs of these operations.
  mutating func retry(_ ids: [OperationReport.ID]) -> [Effect] {
    // The operations that the question names lose their tags, because the command is sent now.
    tags.ids.subtract(ids)
    return [.send(.retry(ids))]
  }

  /// Shows the result of a command to retry jobs as a sentence.
  mutating func announceRetry(of ids: [OperationReport.ID], _ result: CommandResult) {
    let refused = result.outcomes.indices.filter { result.outcomes[$0] == .notRetryable }
    let reason = refused.lazy.compactMap { result.refusals[$0] }.first
    let words = "not retried\(reason.map { ": \($0)" } ?? "")"
    guard ids.count == 1, refused.count == 1 else {
      return announce(ids, result.outcomes, done: "retry requested", notRetryable: words)
    }
    show(words, isWarning: true)
  }
}

extension OperationState {
  /// Whether a job in this state may be retried if the user requests it. The process decides.
  var mayBeRetried: Bool { self == .failed || self == .cancelled }
}
