// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// The commands that hold and release operations. The source of Slurm jobs supports them. Processes do not.

extension Dashboard {
  /// Whether the watched source can hold operations.
  var canHold: Bool { live.hello?.canHold == true }

  /// Holds or releases the tagged operations that have not started. If there are none, the command applies to the
  /// selected operation. An operation that has started can be neither held nor released.
  mutating func setHeld(_ isHeld: Bool) -> [Effect] {
    let ids = targets(of: isHeld ? .hold : .release)
    guard !refuses(ids) else { return [.bell] }
    guard canHold else {
      show(CommandResult.cannotHold, isWarning: true)
      return [.bell]
    }
    guard !ids.isEmpty else { return refuseWithoutOperation() }
    let unstarted = ids.filter { live.operations.state(of: $0)?.mayBeHeld == true }
    guard !unstarted.isEmpty else {
      show(holdRefusal(of: ids), isWarning: true)
      return [.bell]
    }
    return [.send(.setHeld(unstarted, isHeld))]
  }

  /// Returns a sentence with the reason why none of these operations can be held or released.
  private func holdRefusal(of ids: [OperationReport.ID]) -> String {
    guard ids.count == 1, let id = ids.first else { return "all tagged operations have started" }
    guard let state = live.operations.state(of: id) else {
      return "the state of \(id) is not known yet; press the key again"
    }
    return "\(describe(id)) has \(state.isOver ? "ended" : "started")"
  }
}

extension OperationState {
  /// Whether an operation in this state can be held or released. This is `true` if the operation has not started.
  var mayBeHeld: Bool {
    switch self {
    case .waiting, .ready, .held: true
    case .executing, .cancelling, .finished, .failed, .cancelled: false
    }
  }
}

extension MonitoredState {
  /// Whether the operation itself is held. If the source cannot hold operations, a held operation waits because its
  /// queue is suspended.
  func isHeldItself(_ report: OperationReport) -> Bool {
    report.state == .held && hello?.canHold == true
  }
}

extension CommandResult {
  /// Returns the words for operations for which the source does not carry out the command. They end with the first
  /// of the reasons.
  ///
  /// - Parameter words: The words without a reason, such as "not cancelled".
  /// - Returns: The words.
  func words(for words: String) -> String {
    let first = outcomes.indices.first { outcomes[$0] == .refused }
    return words + (first.flatMap { refusals[$0] }.map { ": \($0)" } ?? "")
  }
}
