// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Workloads

/// What all rounds measured.
public struct Results: Sendable {
  private var rounds: [Subject: [[Int]]] = [:]

  /// Starts with none.
  public init() {}

  /// Adds what one round measured of one subject.
  public mutating func add(_ file: SampleFile) {
    rounds[file.subject, default: []].append(file.samples)
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

  /// The smallest sample of one subject divided by the smallest of another, over all rounds: what
  /// else runs on the machine only ever adds to a sample. Nil where one of them was not measured.
  func bestRatio(_ subject: Subject, to other: Subject) -> Double? {
    guard let best = best(subject), let otherBest = self.best(other), otherBest > 0 else {
      return nil
    }
    return Double(best) / Double(otherBest)
  }

  private func best(_ subject: Subject) -> Int? {
    rounds[subject]?.compactMap(\.first).min()
  }

  /// The figure at the largest size divided by the one at the smallest; nil with one size alone.
  func growth(_ workload: Workload, _ contender: Contender) -> Double? {
    let measured = sizes(workload.measure).compactMap { value(workload, $0, contender) }
    guard measured.count > 1, let first = measured.first, let last = measured.last, first > 0
    else { return nil }
    return last / first
  }
}
