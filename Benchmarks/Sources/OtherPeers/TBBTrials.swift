// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TBBPeer
public import Workloads

/// The workloads that oneTBB can run.
public enum TBBTrials {
  /// All trials of this enumeration. A trial is the implementation of one workload by one library.
  public static var all: [Trial] {
    [
      flat, tree, start(.startIdle, pause: .microseconds(200)), start(.startBusy, pause: .zero),
      graph(.chain), graph(.tree), graph(.layers), graph(.random), graph(.fanIn), graph(.fanOut),
      graph(.montage), graph(.epigenomics), graph(.blast), graph(.thousandGenomes), memoryChain,
    ]
  }

  private static let flat = Trial(
    .flat, by: .tbbTaskGroup, .timed { size in { tbb_peer_run_tasks(size, doNothing) } })

  private static let tree = Trial(
    .tree, by: .tbbTaskGroup, .timed { size in { tbb_peer_run_task_tree(size, doNothing) } })

  private static func start(_ workload: Workload, pause: Duration) -> Trial {
    Trial(
      workload, by: .tbbTaskGroup,
      .values { size in
        let group = tbb_peer_make_group()
        defer { tbb_peer_free_group(group) }
        return StartProbe.measure(count: size, pause: pause) { block in
          tbb_peer_add_task(group, callBlock, Unmanaged.passRetained(Block(block)).toOpaque())
        }
      })
  }

  private static func graph(_ workload: Workload) -> Trial {
    Trial(
      workload, by: .tbbFlowGraph,
      .timed { size in
        let links = workload.links(size)
        let edges = makeEdges(links)
        let roots = links.roots.map { UInt32($0) }
        return {
          tbb_peer_run_graph(links.count, edges, edges.count, roots, roots.count, doNothing)
        }
      })
  }

  private static let memoryChain = Trial(
    .memoryChain, by: .tbbFlowGraph,
    .values { size in
      let links = Workload.memoryChain.links(size)
      let edges = makeEdges(links)
      return [
        ResidentMemory.growth(size: size) {
          tbb_peer_leave_graph(links.count, edges, edges.count, doNothing)
        }
      ]
    })

  private static func makeEdges(_ links: Links) -> [tbb_peer_edge] {
    links.edges.map { tbb_peer_edge(before: UInt32($0.before), after: UInt32($0.after)) }
  }
}

/// The work of an operation, which is empty.
private func doNothing() {}

/// An object that contains a closure, so that C functions can pass it on as a pointer.
private final class Block {
  let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func callBlock(_ context: UnsafeMutableRawPointer) {
  Unmanaged<Block>.fromOpaque(context).takeRetainedValue().body()
}
