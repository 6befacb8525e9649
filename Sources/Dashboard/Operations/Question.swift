// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A question before an action that cannot be undone. Its operations are fixed when it is asked.
struct Question: Sendable, Equatable {
  /// The effect of the answer yes.
  enum Purpose: Sendable, Equatable {
    /// It cancels the operations.
    case cancel
    /// It leaves the program, which ends the operations.
    case quit
    /// It watches another source with this name, which ends the demo. It concerns all operations, and names
    /// none of them.
    case open(Source, name: String)
  }

  /// The effect of the answer yes.
  let purpose: Purpose
  /// The operations of the question.
  let ids: [OperationReport.ID]
  /// The unfinished dependents of the operations to be cancelled. `nil` until the monitor has reported them;
  /// fixed after that.
  var dependents: Dependents?

  init(_ purpose: Purpose, about ids: [OperationReport.ID]) {
    self.purpose = purpose
    self.ids = ids
  }
}
