// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Workloads

/// What all rounds measured.
public struct Results: Sendable {
  private var rounds: [Subject: [[Int]]] = [:]

  /// Starts with none.
  public init() {}

  /// Adds what one round measured of one subject.
  public mutating func add(_ file: SampleFile) { add(file.samples, of: file.subject) }

  /// Adds what one round measured of one subject: samples in the unit of the workload's measure.
  ///
  /// - Precondition: There is a sample.
  public mutating func add(_ samples: [Int], of subject: Subject) {
    precondition(!samples.isEmpty, "A round of \(subject) has no sample")
    rounds[subject, default: []].append(samples.sorted())
  }

  /// Whether nothing was measured.
  public var isEmpty: Bool { rounds.isEmpty }

  /// How many rounds there are of the subject that has most.
  public var roundCount: Int { rounds.values.map(\.count).max() ?? 0 }

  /// The workloads of which there are results, in the order of their declaration.
  func workloads(_ measure: Measure) -> [Workload] {
    Workload.allCases.filter { workload in
      workload.measure == measure && rounds.keys.contains { $0.workload == workload }
    }
  }

  /// Who has results for a workload, in the order of declaration.
  func contenders(_ workload: Workload) -> [Contender] {
    Contender.allCases.filter { contender in
      rounds.keys.contains { $0.workload == workload && $0.contender == contender }
    }
  }

  /// The sizes of which there are results, smallest first.
  func sizes(_ measure: Measure) -> [Int] {
    Set(rounds.keys.filter { $0.workload.measure == measure }.map(\.size)).sorted()
  }

  /// The median over the rounds of a percentile, from 0 to 100, of the round's samples: by default
  /// the median of medians. Nil where nothing was measured.
  func value(_ workload: Workload, _ size: Int, _ contender: Contender, percent: Int = 50)
    -> Double?
  {
    rounds[Subject(workload, size, contender)]?.map { Double($0.percentile(percent)) }.median
  }

  /// One contender's figure divided by another's.
  func ratio(_ workload: Workload, _ size: Int, _ contender: Contender, to other: Contender)
    -> Double?
  {
    guard let value = value(workload, size, contender),
      let otherValue = self.value(workload, size, other), otherValue > 0
    else { return nil }
    return value / otherValue
  }

  /// One subject's median divided by another's, by rounds: the median over the rounds that measured
  /// both. What slows the machine down for more than a round is in both figures of that round. Nil
  /// where there is no such round.
  func pairedRatio(_ subject: Subject, to other: Subject) -> Double? {
    zip(rounds[subject] ?? [], rounds[other] ?? [])
      .map { Double($0.percentile(50)) / Double(max($1.percentile(50), 1)) }
      .median
  }

  /// The figure at the largest size divided by the one at the smallest; nil with one size alone.
  func growth(_ workload: Workload, _ contender: Contender) -> Double? {
    let measured = sizes(workload.measure).compactMap { value(workload, $0, contender) }
    guard measured.count > 1, let first = measured.first, let last = measured.last, first > 0
    else { return nil }
    return last / first
  }
}
