// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A question to the user before an action that cannot be undone. The operations of the question do not
/// change while it is open.
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
