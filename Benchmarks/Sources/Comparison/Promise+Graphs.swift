// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Workloads

/// Limits for graphs of a million operations.
extension Promise {
  static let graphs: [Promise] =
    [
      graph(.random, to: .tbbFlowGraph, limit: 1), graph(.layers, to: .tbbFlowGraph, limit: 1),
      graph(.chain, to: .tbbFlowGraph, limit: 1.2), graph(.tree, to: .tbbFlowGraph, limit: 1.2),
      graph(.fanOut, to: .tbbFlowGraph, limit: 1.1), graph(.fanIn, to: .tbbFlowGraph, limit: 1.1),
      graph(.pingPong, to: .dispatch, limit: 1.5),
    ]
    + [
      Workload.random, .layers, .chain, .tree, .fanOut, .fanIn, .pingPong, .montage, .epigenomics,
      .blast, .thousandGenomes,
    ].map(growth)

  /// This package's time for an operation, divided by that of another library. Both times are medians over all rounds,
  /// and each round measures both libraries.
  private static func graph(_ workload: Workload, to peer: Contender, limit: Double) -> Promise {
    Promise(title: "\(workload.rawValue) of 10^6, to \(peer.title)", limit: limit) {
      $0.ratio(workload, 1_000_000, .operations, to: peer)
    }
  }

  /// This package's time for an operation among a million, divided by its time among a thousand.
  private static func growth(_ workload: Workload) -> Promise {
    Promise(title: "\(workload.rawValue), growth from 10^3 to 10^6", limit: 2) {
      guard let few = $0.value(workload, 1_000, .operations), few > 0,
        let many = $0.value(workload, 1_000_000, .operations)
      else { return nil }
      return many / few
    }
  }
}
