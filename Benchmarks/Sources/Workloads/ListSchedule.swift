// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A simulation of a greedy list scheduler without costs of its own.
///
/// The scheduler starts an operation as soon as fewer than `width` operations are executing. It starts ready operations
/// in the order in which they became ready. If several operations become ready at the same time, the one with the
/// smaller number is the first. A dependency that finishes makes its dependents ready in the same moment.
///
/// Source: Graham, "Bounds on Multiprocessing Timing Anomalies" (1969), describes such schedules.
public enum ListSchedule {
  /// Simulates all operations.
  ///
  /// - Parameters:
  ///   - links: The dependencies between the operations.
  ///   - durations: The time for which each operation executes.
  ///   - width: The maximum number of operations that execute at the same time.
  /// - Returns: The time from the start of the first operation to the end of the last one.
  /// - Precondition: `durations` has an element for each operation, `width` is positive, and the dependencies have
  ///   no cycle.
  public static func makespan(_ links: Links, durations: [Duration], width: Int) -> Duration {
    precondition(durations.count == links.count, "Each operation needs a duration")
    precondition(width > 0, "Without a width, no operation can start")
    var waitsFor = Array(repeating: 0, count: links.count)
    var dependents: [[Int]] = Array(repeating: [], count: links.count)
    for edge in links.edges {
      waitsFor[edge.after] += 1
      dependents[edge.before].append(edge.after)
    }
    var ready = links.roots
    var started = 0
    // The executing operations, in the order of their starts.
    var executing: [(index: Int, end: Duration)] = []
    var now = Duration.zero
    while true {
      while executing.count < width, started < ready.count {
        executing.append((ready[started], now + durations[ready[started]]))
        started += 1
      }
      guard let next = executing.indices.min(by: { executing[$0].end < executing[$1].end }) else {
        break
      }
      let finished = executing.remove(at: next)
      now = finished.end
      for dependent in dependents[finished.index].sorted() {
        waitsFor[dependent] -= 1
        if waitsFor[dependent] == 0 { ready.append(dependent) }
      }
    }
    precondition(started == links.count, "The dependencies have a cycle")
    return now
  }
}
