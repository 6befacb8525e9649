// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import Testing

/// Tests of the requests of jobs from a Slurm cluster.
@Suite struct SlurmRequestTests {
  private func requests(_ text: String) throws -> [JobPlan.SlurmRequest] {
    try Reading.plan(text).jobs.map(\.slurm)
  }

  @Test("JF-24: a job has the requests of its key slurm")
  func allKeys() throws {
    let request = try #require(
      try requests(
        """
        jobs:
          a:
            run: x
            slurm: {partition: 'short,long', cpus: 4, memory: 8G, time: 90m, gpus: 1, options: ['--qos=high', -Aacc]}
        """
      ).first)
    #expect(request.partition == "short,long")
    #expect(request.cpus == 4)
    #expect(request.memory == "8G")
    #expect(request.time == .seconds(5400))
    #expect(request.gpus == 1)
    #expect(request.options == ["--qos=high", "-Aacc"])
  }

  @Test("JF-24: a key of a job replaces the same key of the defaults, and keeps the others")
  func defaults() throws {
    let requests = try requests(
      """
      defaults: {slurm: {partition: long, cpus: 2, options: [--requeue]}}
      jobs:
        a: {run: x}
        b: {run: x, slurm: {cpus: 8}}
        c: {run: x, slurm: {options: []}}
      """)
    #expect(requests.map(\.partition) == ["long", "long", "long"])
    #expect(requests.map(\.cpus) == [2, 8, 2])
    #expect(requests.map(\.options) == [["--requeue"], ["--requeue"], []])
  }

  @Test("JF-24: a job without the key slurm requests nothing")
  func nothing() throws {
    #expect(try requests("jobs: {a: {run: x}}") == [JobPlan.SlurmRequest()])
  }

  @Test(
    "JF-24: a mistake in the key is refused with its line",
    arguments: [
      (
        "{cpu: 2}",
        #""slurm" of the job "a" has the unknown key "cpu"; did you mean "cpus"?"#
      ),
      ("{cpus: 0}", #""cpus" of "slurm" of the job "a" must be a whole number from 1 to 65536"#),
      ("{gpus: -1}", #""gpus" of "slurm" of the job "a" must be a whole number from 0 to 65536"#),
      (
        "{time: 90}",
        #""time" of "slurm" of the job "a" is "90", which has no unit; write "90s" for seconds"#
      ),
      ("{time: 0s}", #""time" of "slurm" of the job "a" must be longer than 0"#),
      ("{memory: ''}", #""memory" of "slurm" of the job "a" is empty"#),
      (
        "{options: [high]}",
        #"the option "high" of "slurm" of the job "a" does not begin with a hyphen"#
      ),
      (
        "{options: ['--output=x']}",
        #""slurm" of the job "a" has the option "--output", which opq-top does not permit"#
      ),
      (
        "{options: [-ox]}",
        #""slurm" of the job "a" has the option "-o", which opq-top does not permit"#
      ),
      ("high", #""slurm" of the job "a" must be a mapping of keys to values"#),
    ])
  func mistakes(value: String, message: String) {
    #expect(
      Reading.mistake("jobs:\n  a:\n    run: x\n    slurm: \(value)") == "jobs.yaml:4: \(message)")
  }

  @Test(
    "JF-24: an option that opq-top uses is refused, even by its short or incomplete name",
    arguments: [
      ("--clusters=x", "--clusters"), ("--help", "--help"), ("--usage", "--usage"),
      ("--version", "--version"), ("--", "--"), ("-Mx", "-M"), ("-h", "-h"), ("-V", "-V"),
      ("-W", "-W"), ("--arr=1-9", "--arr"), ("--wra=x", "--wra"), ("--test", "--test"),
      ("--err=x", "--err"), ("--output=\u{301}x", "--output"), ("-e\u{301}x", "-e"),
    ])
  func reservedOptions(option: String, name: String) {
    #expect(
      Reading.mistake("jobs: {a: {run: x, slurm: {options: ['\(option)']}}}")
        == #"jobs.yaml:1: "slurm" of the job "a" has the option "\#(name)", which opq-top does not permit"#
    )
  }

  @Test("JF-24: short options without values in one text are refused", arguments: ["-HW", "-sQ"])
  func joinedOptions(option: String) {
    #expect(
      Reading.mistake("jobs: {a: {run: x, slurm: {options: [\(option)]}}}")
        == #"jobs.yaml:1: the option "\#(option)" of "slurm" of the job "a" contains several options; write each option as one text"#
    )
  }

  @Test("JF-24: options whose names are like those of refused ones are permitted")
  func similarOptions() throws {
    let options = [
      "--exclude=n1", "--exclusive", "--export=ALL", "--wait-all-nodes=1", "--hint=x", "--hold",
      "--cluster-constraint=x", "--constraint=x", "--verbose", "-H", "-s", "-k", "-xe", "-CW",
      "-N2",
    ]
    let list = options.map { "'\($0)'" }.joined(separator: ", ")
    let requests = try requests("jobs: {a: {run: x, slurm: {options: [\(list)]}}}")
    #expect(requests.map(\.options) == [options])
  }

  @Test("JF-20, JF-24: the plan as JSON has the requests of a job, if it has any")
  func json() throws {
    let plan = try Reading.plan(
      """
      jobs:
        a: {run: x, slurm: {cpus: 2, time: 1m, options: [--requeue]}}
        b: {run: x}
      """)
    let parts = plan.jsonLine.split(separator: #""id":"b""#, maxSplits: 1)
    #expect(parts.first?.contains(#""slurm":{"cpus":2,"options":["--requeue"],"time":60}"#) == true)
    #expect(parts.last?.contains("slurm") == false)
  }
}
