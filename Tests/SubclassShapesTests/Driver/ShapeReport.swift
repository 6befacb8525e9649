// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The result of running many operations of one kind of subclass.
struct ShapeReport: Sendable, CustomStringConvertible {
  /// The number of operations that depended on the tested operations.
  let dependentCount: Int

  /// Whether a queue still had operations after the time limit.
  let isHung: Bool

  let tally: Sightings.Tally

  /// The number of operations that the queues still count after all operations have finished. It
  /// should be 0.
  let leftCount: Int

  /// A text for each fault. The worst fault is first.
  var faults: [String] {
    var faults = isHung ? ["hang"] : []
    let counts = [
      (tally.earlyDependents, "of \(dependentCount) dependents early"),
      (tally.lostCount(.dependent), "of \(dependentCount) dependents lost"),
      (tally.repeatedCount(.dependent), "of \(dependentCount) dependents twice"),
      (tally.earlyCompletions, "completion blocks early"),
      (tally.lostCount(.completion), "completion blocks lost"),
      (tally.repeatedCount(.completion), "completion blocks twice"),
      (tally.earlyWaits, "waits ended early"),
      (tally.lostCount(.work), "operations lost"),
      (tally.repeatedCount(.work), "operations twice"),
      (tally.lostCount(.observedFinish), "finishes not observed"),
      (leftCount, "operations left in a queue"),
    ]
    for (count, what) in counts where count > 0 { faults.append("\(count) \(what)") }
    if let first = tally.faults.first {
      faults.append("\(first) (and \(tally.faults.count - 1) more)")
    }
    return faults
  }

  var description: String { faults.isEmpty ? "ok" : faults.joined(separator: ", ") }
}
