// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Workloads

extension Contender {
  /// The name of the library in the tables of results.
  var title: String {
    switch self {
    case .operations: "Operations"
    case .foundation: "Foundation"
    case .dispatch: "Dispatch"
    case .taskGroup: "TaskGroup"
    case .tbbTaskGroup: "TBB task_group"
    case .tbbFlowGraph: "TBB flow graph"
    }
  }
}
