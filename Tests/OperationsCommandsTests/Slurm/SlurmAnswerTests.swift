// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import OperationsCommands

@Suite("The answers of Slurm's commands") struct SlurmAnswerTests {
  private static let separator = SlurmRecord.separator

  private static func line(_ fields: String...) -> String {
    fields.joined(separator: separator)
  }

  private static let files = SlurmFiles(base: "/shared/a")

  private func submission(_ output: String) -> SlurmJob.Submission {
    SlurmAnswer.submission(Array(output.utf8), marker: "M")
  }

  // MARK: sbatch

  @Test(
    "SL-3: The answer of sbatch is an id, a refusal, or unclear",
    arguments: [
      ("M\n17\n\nM 0\n", SlurmJob.Submission.accepted(id: 17)),
      ("Welcome\nM\nsbatch: warning\n17;cluster\n\nM 0\n", .accepted(id: 17)),
      ("M\n17\n", .unclear("the answer of sbatch was lost")),
      ("", .unclear("the answer of sbatch was lost")),
      ("M\n\nM 0\n", .unclear("sbatch has printed no id")),
      ("M\nmkdir: no\n\nM 74\n", .unusableFiles("mkdir: no")),
      ("M\n\nM 137\n", .unclear("sbatch was ended by a signal")),
      ("M\nsbatch: error: Invalid\n\nM 255\n", .refused("Invalid")),
      (
        "M\nsbatch: error: Batch job submission failed: Socket timed out on send/recv operation\n\nM 1\n",
        .unclear("Socket timed out on send/recv operation")
      ),
      (
        """
        M
        sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)

        M 1

        """, .unclear("Unable to contact slurm controller (connect failure)")
      ),
    ])
  func submissions(output: String, answer: SlurmJob.Submission) {
    #expect(submission(output) == answer)
  }

  @Test(
    "SL-9: The words of Slurm about a refusal are one sentence",
    arguments: [
      (
        """
        sbatch: error: invalid partition specified: nope
        sbatch: error: Batch job submission failed: Invalid partition name specified
        """, "Invalid partition name specified"
      ),
      (
        """
        sbatch: error: Memory specification can not be satisfied
        sbatch: error: Batch job submission failed: Requested node configuration is not available
        """, "Requested node configuration is not available"
      ),
      ("sbatch: error: Invalid --time specification", "Invalid --time specification"),
      (
        """
        sbatch: error: AssocMaxSubmitJobLimit
        sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit)
        """, "Job violates accounting/QOS policy (job submit limit)"
      ),
      (
        "sbatch: unrecognized option '--nonsense'\nTry \"sbatch --help\" for more information",
        "sbatch: unrecognized option '--nonsense'"
      ),
      (
        """
        sbatch: error: fetch_config: DNS SRV lookup failed
        sbatch: fatal: Could not establish a configuration source
        """, "Could not establish a configuration source"
      ),
    ])
  func refusals(output: String, words: String) {
    #expect(submission("M\n\(output)\n\nM 1\n") == .refused(words))
  }

  // MARK: squeue

  @Test("SL-2: A line of squeue has the fields of a job")
  func record() throws {
    let line = Self.line("7", "opq-1", "PENDING", "Priority", "1000", "2000", "", "a | b: c")
    let record = try #require(SlurmRecord(line: line))
    #expect(record.id == 7 && record.comment == "opq-1" && record.name == "a | b: c")
    #expect(record.state.meaning == .pending && record.reason == "Priority")
    #expect(record.submitted == 1000 && record.start == 2000 && record.nodes == "")
  }

  @Test("SL-2: Values that Slurm does not know are absent")
  func absentValues() throws {
    let line = Self.line("7", "(null)", "RUNNING", "None", "1000", "N/A", "n[1-2]", "x")
    let record = try #require(SlurmRecord(line: line))
    #expect(record.reason == "" && record.start == nil && record.nodes == "n[1-2]")
  }

  @Test(
    "SL-2: A line that is not a job is skipped",
    arguments: [
      "", "slurm_load_jobs error", "7_[1-3]\u{1f}a\u{1f}b\u{1f}c\u{1f}1\u{1f}2\u{1f}d\u{1f}e",
    ])
  func noRecord(line: String) {
    #expect(SlurmRecord(line: line) == nil)
  }

  @Test(
    "SL-7, SL-8: Each state of Slurm has one meaning",
    arguments: [
      ("PENDING", SlurmState.Meaning.pending), ("RUNNING", .running), ("CONFIGURING", .running),
      ("SUSPENDED", .running), ("COMPLETING", .ending), ("COMPLETED", .completed),
      ("FAILED", .failed), ("CANCELLED", .cancelled), ("TIMEOUT", .aborted),
      ("OUT_OF_MEMORY", .aborted), ("NODE_FAIL", .aborted), ("A_STATE_OF_THE_FUTURE", .running),
    ])
  func states(word: String, meaning: SlurmState.Meaning) {
    #expect(SlurmState(word).meaning == meaning)
  }

  @Test("SL-6: A failed call of squeue has a reason")
  func failedQueue() {
    let output =
      "M 1\nslurm_load_jobs error: Unable to contact slurm controller (connect failure)\nM\nM end\n"
    let answer = SlurmAnswer.queue(Array(output.utf8), looks: [], marker: "M")
    #expect(
      answer.jobs
        == .failure(
          SlurmCallFailure(reason: "Unable to contact slurm controller (connect failure)")))
  }

  @Test("SL-6: An incomplete answer of squeue is not used")
  func cutQueue() {
    let whole = "M 0\n\(Self.line("7", "c", "RUNNING", "None", "1", "2", "n1", "x"))\nM\nM end\n"
    let bytes = Array(whole.utf8)
    // With the second marker, the list of jobs is complete.
    for count in 0..<(bytes.count - "M end\n".utf8.count) {
      let answer = SlurmAnswer.queue(Array(bytes[..<count]), looks: [], marker: "M")
      #expect((try? answer.jobs.get()) == nil, "\(count) bytes")
    }
    let answer = SlurmAnswer.queue(bytes, looks: [], marker: "M")
    #expect((try? answer.jobs.get())?.count == 1)
  }

  @Test("SL-19: The files of several jobs are read from one answer, with all bytes")
  func filesInQueue() throws {
    let outputs = [
      SlurmLook.Output(path: "/o", position: 3, isTail: false, isOwn: true),
      SlurmLook.Output(path: "/e", position: 0, isTail: true, isOwn: false),
    ]
    let looks = [
      SlurmLook(files: Self.files, outputs: outputs), SlurmLook(files: Self.files, outputs: []),
    ]
    let bytes: [UInt8] =
      Array("M 0\n\nM\n2 7\n\n3 4 9\n".utf8) + [0, 10, 255, 10]
      + Array("\n9 0 -1\n\n\n1 12\nM end\n".utf8)
    let files = try #require(SlurmAnswer.queue(bytes, looks: looks, marker: "M").files)
    #expect(files[0].sign == "2 7" && files[0].status == nil)
    #expect(files[0].parts[0].bytes == [0, 10, 255, 10] && files[0].parts[0].position == 3)
    #expect(files[0].parts[1].bytes.isEmpty && files[0].parts[1].position == 9)
    #expect(files[0].parts.map(\.size) == [9, nil])
    #expect(files[1].sign == nil && files[1].status == .exited(1) && files[1].duration == 12)
    for count in 0..<bytes.count {
      #expect(
        SlurmAnswer.queue(Array(bytes[..<count]), looks: looks, marker: "M").files == nil)
    }
  }

  // MARK: Others

  @Test("SL-17: scontrol shows the exit status and the signal")
  func exit() {
    #expect(SlurmExit(scontrol: "JobId=7 ExitCode=3:0 Comment=x")?.status == 3)
    #expect(SlurmExit(scontrol: "JobId=7 ExitCode=0:15\n")?.signal == 15)
    #expect(SlurmExit(scontrol: "slurm_load_jobs error: Invalid job id specified") == nil)
  }

  @Test(
    "SL-19: An answer with damaged numbers has no contents",
    arguments: ["0 -1 3", "-1 0 0", "0 9 9", "1"])
  func damagedNumbers(numbers: String) {
    let output = SlurmLook.Output(path: "/o", position: 0, isTail: false, isOwn: true)
    let look = SlurmLook(files: Self.files, outputs: [output])
    let text = "M\n\n\n\(numbers)\nabc\nM end\n"
    #expect(SlurmAnswer.look(Array(text.utf8), look, marker: "M") == nil)
  }

  @Test("SL-17: The answer of scontrol is a record, no record, or a failure")
  func exitAnswers() throws {
    let submission = SlurmSubmission(comment: "opq-1", name: "x", id: 7)
    func answer(_ text: String) -> SlurmJob.ExitAnswer {
      SlurmAnswer.exit(Array(text.utf8), of: submission, marker: "M")
    }
    let exit = try #require(SlurmExit(scontrol: "ExitCode=3:0"))
    #expect(
      answer("Hello\nM 0\nJobId=7 ExitCode=3:0 Comment=opq-1\nM\n") == .record(exit))
    #expect(answer("M 0\nJobId=7 ExitCode=3:0 Comment=opq-2\nM\n") == .noRecord)
    #expect(answer("M 1\nslurm_load_jobs error: Invalid job id specified\nM\n") == .noRecord)
    #expect(
      answer("M 1\nslurm_load_jobs error: Socket timed out\nM\n") == .failure("Socket timed out"))
    #expect(answer("M 0\nJobId=7") == .failure("the answer of scontrol was lost"))
  }

  @Test(
    "SL-4: Only the line after the marker says whether a start was prevented",
    arguments: [
      ("M\nrevoked\n", SlurmJob.Revocation.revoked), ("Hello 7\nM\nstarted\n", .started),
      ("M\nfiles\n", .unclear("the files of the job cannot be used")),
      ("revoked\n", .unclear("the answer was lost")), ("M\n", .unclear("the answer was lost")),
    ])
  func revocation(output: String, result: SlurmJob.Revocation) {
    #expect(SlurmAnswer.revocation(Array(output.utf8), marker: "M") == result)
  }

  @Test("SL-12: Each of several cancelled jobs has its result")
  func cancellations() {
    let lines = "M opq-1 revoked\nM opq-2 requested\nM end"
    func results(_ text: String) -> [String: SlurmJob.Cancellation] {
      SlurmAnswer.cancellations(Array(text.utf8), marker: "M")
    }
    #expect(results("\(lines) 0\n") == ["opq-1": .revoked(isReceived: true), "opq-2": .requested])
    #expect(
      results("\(lines) 1\n") == ["opq-1": .revoked(isReceived: false), "opq-2": .requested])
    #expect(results("M opq-1 revoked\n") == [:])
  }

  @Test("SL-2: A carriage return at the end of a line does not join two jobs")
  func carriageReturns() {
    let lines = ["1", "2"].map { Self.line($0, "c", "RUNNING", "None", "1", "2", "n1", "x\r") }
    #expect(SlurmRecord.all(in: lines.joined(separator: "\n")).map(\.id) == [1, 2])
    #expect(submission("M\r\n17\r\n\r\nM 0\r\n") == .accepted(id: 17))
  }

  @Test(
    "SL-17: An incomplete status file has no status", arguments: ["", "\n", "x 1", "256 1", "-1 1"])
  func damagedStatus(text: String) {
    var contents = SlurmFileContents()
    contents.readStatus(text)
    #expect(contents.status == nil)
  }
}

@Suite("Requests to Slurm") struct SlurmRequestTests {
  @Test("SL-16: Resources are options of sbatch")
  func options() {
    let resources = SlurmResources(
      partition: "short", cpus: 4, memory: "8G", time: .seconds(90), gpus: 2, options: ["--qos=x"])
    #expect(
      resources.arguments == [
        "--partition=short", "--ntasks=1", "--cpus-per-task=4", "--mem=8G", "--time=2",
        "--gpus=2", "--qos=x",
      ])
    #expect(SlurmResources().arguments == [])
  }

  @Test(
    "SL-16: A part of a minute counts as a minute",
    arguments: [
      (Duration.seconds(60), 1), (.seconds(61), 2), (.milliseconds(60_001), 2), (.zero, 1),
      (.seconds(-5), 1), (.seconds(7200), 120),
    ])
  func minutes(time: Duration, minutes: Int) {
    #expect(SlurmResources(time: time).arguments == ["--time=\(minutes)"])
  }

  @Test(
    "SL-1: The poll interval is at least one second",
    arguments: [
      (Duration.zero, Duration.seconds(1)), (.milliseconds(1500), .milliseconds(1500)),
      (.seconds(1 << 50), .seconds(100 * 365 * 86_400)),
    ])
  func interval(requested: Duration, used: Duration) {
    #expect(SlurmCluster(directory: "/a", pollInterval: requested).pollInterval == used)
    #expect(SlurmCluster(directory: "/a").pollInterval == .seconds(10))
  }

  @Test("SL-2: Each submission has a comment of its own, and a name without control characters")
  func submissions() {
    let names = [("make", "make"), ("a\u{1f}b\nc", "a b c"), ("", "opq"), ("  ", "opq")]
    for (name, shown) in names { #expect(SlurmSubmission(named: name).name == shown) }
    let comments = Set((0..<100).map { _ in SlurmSubmission(named: "x").comment })
    #expect(comments.count == 100)
    #expect(comments.allSatisfy { $0.hasPrefix("opq-") && $0.utf8.count == 36 })
  }

  @Test(
    "SL-15: A text is one word of a shell",
    arguments: [
      "", "a b", "it's", "$(x) `y` \\ \"", "-n", "a\r\nb\r", "'\u{301}; echo 'x", "\n'\u{301}",
    ])
  func quoting(text: String) async throws {
    let result = try await run(shell: "printf %s \(SlurmScript.quoted(text))")
    #expect(result.text == text)
  }

  @Test("SL-10: The status of a pending job has the reason and the expected start")
  func pendingStatus() throws {
    func status(_ start: String, now: Int64) throws -> String {
      let fields = ["7", "c", "PENDING", "Priority", "1000", start, "", "x"]
      let line = fields.joined(separator: SlurmRecord.separator)
      return SlurmWords.status(of: try #require(SlurmRecord(line: line)), now: now)
    }
    let soon = try status("1000000000", now: 1_000_000_000 - 3600)
    #expect(try soon.wholeMatch(of: Regex("pending: Priority, expected [0-9]{2}:[0-9]{2}")) != nil)
    let later = try status("1000000000", now: 1_000_000_000 - 86_400)
    #expect(
      try later.wholeMatch(of: Regex("pending: Priority, expected 2001-09-[0-9]{2} [0-9:]{5}"))
        != nil)
    #expect(try status("N/A", now: 0) == "pending: Priority")
  }

  @Test("SL-14: Of a file of the user, at most the last 16 KiB are read")
  func tails() {
    let tail = SlurmLook.Output(path: "/o", position: 10, isTail: true, isOwn: false)
    #expect(SlurmLook.part(of: tail, size: 20, limit: 1 << 20) == (10, 10))
    #expect(
      SlurmLook.part(of: tail, size: 1 << 20, limit: 1 << 20) == ((1 << 20) - (1 << 14), 1 << 14))
    #expect(SlurmLook.part(of: tail, size: 5, limit: 1 << 20) == (0, 5))
    #expect(SlurmLook.part(of: tail, size: 1 << 20, limit: 100) == ((1 << 20) - 100, 100))
    let whole = SlurmLook.Output(path: "/o", position: 10, isTail: false, isOwn: true)
    #expect(SlurmLook.part(of: whole, size: 1 << 30, limit: 1 << 20) == (10, 1 << 20))
  }

  @Test("SL-19: The files of all jobs share the bytes of one call")
  func budget() {
    #expect(SlurmLook.limit(fileCount: 0) == 1 << 23)
    #expect(SlurmLook.limit(fileCount: 256) == 1 << 15)
    #expect(SlurmLook.limit(fileCount: 10_000) == 1 << 12)
  }
}
