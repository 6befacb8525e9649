// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Workloads

/// A file with the samples of one benchmark, as `swift package benchmark --format histogramSamples`
/// writes it. The first line has the name of the metric, and each following line has one sample.
public struct SampleFile: Equatable, Sendable {
  /// The benchmark that was measured.
  public let subject: Subject
  /// The samples, in the unit of the workload's measure, in ascending order.
  public let samples: [Int]

  /// Reads a file of samples. Returns `nil` if the file has other contents, or if its metric is not
  /// the one of the workload in the file name.
  ///
  /// - Parameters:
  ///   - name: The name of the file without folders,
  ///     "run.target.workload.size.contender.metric.histogram…".
  ///   - text: The contents of the file.
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
