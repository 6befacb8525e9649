// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Workloads

/// The results of all rounds of benchmarks.
public struct Results: Sendable {
  private var rounds: [Subject: [[Int]]] = [:]

  /// Creates benchmark results without any values.
  public init() {}

  /// Adds the results of one round of one benchmark.
  public mutating func add(_ file: SampleFile) { add(file.samples, of: file.subject) }

  /// Adds the samples of one round of one benchmark, in the unit of the workload's measure.
  ///
  /// - Precondition: `samples` is not empty.
  public mutating func add(_ samples: [Int], of subject: Subject) {
    precondition(!samples.isEmpty, "A round of \(subject) has no sample")
    rounds[subject, default: []].append(samples.sorted())
  }

  /// Whether no benchmark was measured.
  public var isEmpty: Bool { rounds.isEmpty }

  /// The number of rounds of the benchmark with the most rounds.
  public var roundCount: Int { rounds.values.map(\.count).max() ?? 0 }

  /// Returns the workloads with results, in the order of their declaration.
  func workloads(_ measure: Measure) -> [Workload] {
    Workload.allCases.filter { workload in
      workload.measure == measure && rounds.keys.contains { $0.workload == workload }
    }
  }

  /// Returns the compared libraries that have results for a workload, in the order of their
  /// declaration.
  func contenders(_ workload: Workload) -> [Contender] {
    Contender.allCases.filter { contender in
      rounds.keys.contains { $0.workload == workload && $0.contender == contender }
    }
  }

  /// Returns the sizes (numbers of operations) for which the measure has results, in ascending
  /// order.
  func sizes(_ measure: Measure) -> [Int] {
    Set(rounds.keys.filter { $0.workload.measure == measure }.map(\.size)).sorted()
  }

  /// Returns the median of the values of all rounds. The value of a round is a percentile (0 to
  /// 100) of the samples of the round. By default, it is their median. Returns `nil` if nothing was
  /// measured.
  func value(_ workload: Workload, _ size: Int, _ contender: Contender, percent: Int = 50)
    -> Double?
  {
    rounds[Subject(workload, size, contender)]?.map { Double($0.percentile(percent)) }.median
  }

  /// Returns the measured value of one library divided by the value of another library.
  func ratio(_ workload: Workload, _ size: Int, _ contender: Contender, to other: Contender)
    -> Double?
  {
    guard let value = value(workload, size, contender),
      let otherValue = self.value(workload, size, other), otherValue > 0
    else { return nil }
    return value / otherValue
  }

  /// Returns the ratio of two benchmarks. In each round that measured both, the median of one is
  /// divided by the median of the other; the result is the median of these ratios. If the machine
  /// is slow during a whole round, both medians of the round change, and their ratio stays about
  /// the same. Returns `nil` if no round measured both.
  func pairedRatio(_ subject: Subject, to other: Subject) -> Double? {
    zip(rounds[subject] ?? [], rounds[other] ?? [])
      .map { Double($0.percentile(50)) / Double(max($1.percentile(50), 1)) }
      .median
  }

  /// Returns how a measured value grows with the number of operations: the value at the largest
  /// number, divided by the value at the smallest number. Returns `nil` if only one number of
  /// operations was measured.
  func growth(_ workload: Workload, _ contender: Contender) -> Double? {
    let measured = sizes(workload.measure).compactMap { value(workload, $0, contender) }
    guard measured.count > 1, let first = measured.first, let last = measured.last, first > 0
    else { return nil }
    return last / first
  }
}
