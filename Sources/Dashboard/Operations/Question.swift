// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A question to the user before an action that the user may not intend. The operations or the queue of the
/// question do not change while it is open.
struct Question: Sendable, Equatable {
  /// The action that the program performs if the user answers yes.
  enum Purpose: Sendable, Equatable {
    /// The program cancels the operations.
    case cancel
    /// The program quits, which ends the operations.
    case quit
    /// The program watches another source with this name, which ends the demo. The question concerns all
    /// operations of the demo, so it has no list of operations.
    case open(Source, name: String)
    /// The program suspends this queue or, if the value is `false`, resumes it. The question has no list of
    /// operations.
    case setSuspended(QueueReport.ID, Bool)
    /// The program limits the starts of this queue or, if the value is `nil`, removes the limit. The question has no list
    /// of operations.
    case setStartLimit(QueueReport.ID, QueueReport.StartLimit?)
    /// The process retries the jobs of the operations.
    case retry

    /// Words for a message that a command was not sent, such as "not cancelled"; `nil` if the action is not a
    /// command.
    var refusalWords: String? {
      switch self {
      case .cancel: "not cancelled"
      case .retry: "not retried"
      case .setSuspended(_, let isSuspended): isSuspended ? "not suspended" : "not resumed"
      case .setStartLimit: "limit of starts not changed"
      case .quit, .open: nil
      }
    }
  }

  /// The action that the program performs if the user answers yes.
  let purpose: Purpose
  /// The operations that the question concerns.
  let ids: [OperationReport.ID]
  /// The unfinished dependents of the operations to be cancelled; `nil` until the monitor has reported them.
  /// After the report, the dependents do not change.
  var dependents: Dependents?

  init(_ purpose: Purpose, about ids: [OperationReport.ID]) {
    self.purpose = purpose
    self.ids = ids
  }
}
