// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The question before a cancellation. What it is about is fixed when it is asked.
struct CancelQuestion: Sendable, Equatable {
  /// What is to be cancelled.
  let ids: [OperationReport.ID]
  /// What depends on it and has not finished; `nil` until the monitor has said so, and fixed then.
  var dependents: Dependents?
}
