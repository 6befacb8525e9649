// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What makes two warnings of two updates the same one.
package struct WarningIdentity: Hashable {
  let kind: MonitorWarning.Kind
  let operation: OperationReport.ID?
  let awaited: OperationReport.ID?
  let queue: QueueReport.ID?

  /// The identity of a warning.
  package init(_ warning: MonitorWarning) {
    kind = warning.kind
    operation = warning.operations.first
    awaited = warning.awaited.first
    queue = warning.queue
  }
}
