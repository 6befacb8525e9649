// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Which of the workload's queues an operation runs on.
enum Lane: String, CaseIterable, Sendable {
  case cpu
  case io
  case net
  case index

  /// How many operations run at once.
  var width: Int {
    switch self {
    case .cpu: 2
    case .io: 4
    case .net: 6
    case .index: 1
    }
  }
}
