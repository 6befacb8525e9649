// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing
import Workloads

@testable import Comparison

extension Results {
  /// Results as if they had been read from files.
  init(_ measured: [(Subject, [Int])]) throws {
    self.init()
    for (subject, samples) in measured { add(try Self.file(subject, samples)) }
  }

  /// What the tool writes of one benchmark.
  static func file(_ subject: Subject, _ samples: [Int]) throws -> SampleFile {
    let metric = subject.workload.measure.rawValue.split(separator: " ").joined(separator: "_")
    let name =
      "Current_run.Queues.\(subject.workload.rawValue).\(subject.size)."
      + "\(subject.contender.rawValue).\(metric).histogram.samples.tsv"
    let lines = samples.map { "\($0)\n" }.joined()
    return try #require(SampleFile(name: name, text: "title\n" + lines))
  }
}
