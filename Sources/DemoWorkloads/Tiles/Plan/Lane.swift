// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The workload's queue on which an operation runs.
enum Lane: String, CaseIterable, Sendable {
  case cpu
  case io
  case net
  case index

  /// The width of the queue.
  var width: Int {
    switch self {
    case .cpu: 2
    case .io: 4
    case .net: 6
    case .index: 1
    }
  }
}
