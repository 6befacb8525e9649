// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
public import Workloads

/// The workloads that a task group can run.
public enum TaskGroupTrials {
  /// All trials of this enumeration. A trial is the implementation of one workload by one library.
  public static var all: [Trial] { [flat, tree] }

  private static let flat = Trial(
    .flat, by: .taskGroup,
    .timed { size in
      {
        runToEnd {
          await withTaskGroup(of: Void.self) { group in
            for _ in 0..<size { group.addTask {} }
          }
        }
      }
    })

  private static let tree = Trial(
    .tree, by: .taskGroup,
    .timed { size in
      { runToEnd { await visit(0, of: size) } }
    })

  private static func visit(_ index: Int, of size: Int) async {
    if 2 * index + 1 >= size { return }
    await withTaskGroup(of: Void.self) { group in
      for child in [2 * index + 1, 2 * index + 2] where child < size {
        group.addTask { await visit(child, of: size) }
      }
    }
  }

  /// Runs a task in the thread pool of Swift's concurrency runtime, and blocks until the task ends.
  /// The measured time includes one switch to the pool and one switch back, as for every compared
  /// library.
  private static func runToEnd(_ body: @escaping @Sendable () async -> Void) {
    let end = DispatchSemaphore(value: 0)
    Task.detached {
      await body()
      end.signal()
    }
    end.wait()
  }
}
