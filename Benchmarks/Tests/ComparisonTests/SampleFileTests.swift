// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing
import Workloads

@testable import Comparison

@Suite struct SampleFileTests {
  static let name =
    "Current_run.Queues.flat.1000.dispatch.ns_per_operation.histogram.samples.tsv"

  @Test func theSubjectIsReadFromTheFileName() throws {
    let file = try #require(SampleFile(name: Self.name, text: "ns per operation \n7\n"))
    #expect(file.subject == Subject(.flat, 1_000, .dispatch))
  }

  @Test func theLinesBelowTheTitleAreTheSamplesInAscendingOrder() throws {
    let file = try #require(SampleFile(name: Self.name, text: "ns per operation \n30\n10\n20\n"))
    #expect(file.samples == [10, 20, 30])
  }

  @Test(arguments: [
    "Current_run.Queues.flat.1000.dispatch.wallClock.histogram.samples.tsv",
    "Current_run.Queues.flat.1000.unknown.ns_per_operation.histogram.samples.tsv",
    "Current_run.Queues.nothing.1000.dispatch.ns_per_operation.histogram.samples.tsv",
    "Current_run.Queues.flat.many.dispatch.ns_per_operation.histogram.samples.tsv",
    "Current_run.jmh.json", "",
  ])
  func filesOfOtherMetricsAreNoSampleFiles(name: String) {
    #expect(SampleFile(name: name, text: "title\n1\n") == nil)
  }

  @Test func aFileWithoutSamplesIsRefused() {
    #expect(SampleFile(name: Self.name, text: "ns per operation \n") == nil)
  }
}
