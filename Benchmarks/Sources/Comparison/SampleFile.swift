// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Workloads

/// A file that `swift package benchmark --format histogramSamples` writes: the samples of one metric
/// of one benchmark, one a line, below a line with the metric's name.
public struct SampleFile: Equatable, Sendable {
  /// What was measured.
  public let subject: Subject
  /// The samples, in the unit of the workload's measure, in ascending order.
  public let samples: [Int]

  /// Reads a file; nil where it holds something else, or another metric than the workload's.
  ///
  /// - Parameters:
  ///   - name: Its name without folders, "run.target.workload.size.contender.metric.histogram…".
  ///   - text: What is in it.
  public init?(name: String, text: String) {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 9, parts[6...] == ["histogram", "samples", "tsv"],
      let workload = Workload(rawValue: String(parts[2])), let size = Int(parts[3]),
      let contender = Contender(rawValue: String(parts[4])),
      parts[5].split(separator: "_").elementsEqual(
        workload.measure.rawValue.split(separator: " "))
    else { return nil }
    subject = Subject(workload, size, contender)
    samples = text.split(separator: "\n").dropFirst().compactMap { Int($0) }.sorted()
    if samples.isEmpty { return nil }
  }
}
