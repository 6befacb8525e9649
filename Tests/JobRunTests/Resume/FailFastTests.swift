// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands
import Testing

@testable import JobRun

@Suite("The failure that ends a run, at a resume")
struct FailFastTests {
  private static let jobs = """
      a: {run: 'a'}
      b: {run: 'b'}
      c: {run: 'c', once: true}
      d: {run: 'd'}
    """

  @Test("RD-4: The first failure that is kept ends a run that fails fast")
  func firstFailure() throws {
    var past = try PastRun(Self.jobs)
    #expect(try past.resumed().resumption.firstFailure == nil)
    past.run("d", "b", state: .failed)
    #expect(try past.resumed().resumption.firstFailure == 3)
    // A failure that no longer counts because of a change is no failure, and neither does another one end the run.
    let changed = try past.resumed(Self.jobs.replacing("'d'", with: "'new'"))
    #expect(changed["d"] == "run 2" && changed.resumption.firstFailure == nil)
  }

  @Test("RD-4: A retry permits the jobs after a failure to run, also after a further crash")
  func retry() throws {
    var past = try PastRun(Self.jobs)
    past.run("a", "b", state: .failed)
    #expect(try past.resumed(retrying: ["b"]).resumption.firstFailure == nil)
    try past.resume(retrying: ["b"])
    #expect(try past.resumed()["a"] == "keep failed")
    #expect(try past.resumed().resumption.firstFailure == nil)
    past.start("b", attempt: 2)
    past.end("b", .failed, attempts: 2)
    #expect(try past.resumed().resumption.firstFailure == 1)
  }

  @Test("RD-4: A job that waits, or whose command may still run, has not failed")
  func unsettledJobs() throws {
    var past = try PastRun(Self.jobs)
    past.start("a", .unknown("the shim has no identity"))
    past.start("c", .lost)
    #expect(try past.resumed().resumption.firstFailure == nil)
    try past.resume()
    #expect(try past.resumed()["c"] == "keep failed")
    #expect(try past.resumed().resumption.firstFailure == nil)
  }
}
