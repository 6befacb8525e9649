// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A question that has to be answered before something is done that cannot be taken back. What it is
/// about is fixed when it is asked.
struct Question: Sendable, Equatable {
  /// What a yes does.
  enum Purpose: Sendable, Equatable {
    /// It cancels the operations.
    case cancel
    /// It leaves the program, with which the operations end.
    case quit
    /// It watches something else, called so, for which the demo ends. It is about all operations, of
    /// which none is named.
    case open(Source, name: String)
  }

  /// What a yes does.
  let purpose: Purpose
  /// The operations that it is about.
  let ids: [OperationReport.ID]
  /// What depends on those to be cancelled and has not finished; `nil` until the monitor has said so,
  /// and fixed then.
  var dependents: Dependents?

  init(_ purpose: Purpose, about ids: [OperationReport.ID]) {
    self.purpose = purpose
    self.ids = ids
  }
}
