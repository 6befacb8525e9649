// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import TestSupport
import Testing

@testable import OperationsCommands

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("Jobs of Slurm that other programs have submitted", .timeLimit(.minutes(5)), .onOwnThread)
struct WatchedSlurmJobTests {
  /// Returns a line of `squeue`.
  private static func line(
    _ id: Int, shown: String? = nil, array: Int? = nil, tasks: String = "N/A",
    state: String = "PENDING", reason: String = "None", dependency: String = "(null)",
    partition: String = "main", name: String = "job", marker: String = "M-job"
  ) -> String {
    [
      marker, shown ?? "\(id)", "\(id)", "\(array ?? id)", tasks, state, reason, "1795882908",
      "N/A",
      "NONE", "", partition, "ann", "(null)", "42", dependency, name,
    ].joined(separator: SlurmRecord.separator)
  }

  private func jobs(_ lines: String...) -> [WatchedSlurmJob] {
    WatchedSlurmJob.all(in: lines.joined(separator: "\n"), marker: "M-job")
  }

  // MARK: Rows

  @Test("SV-2: A row has the values of the job")
  func row() throws {
    let job = try #require(jobs(Self.line(7, reason: "Priority", partition: "short,long")).first)
    #expect(job.id == 7 && job.name == "7" && job.arrayID == 7 && job.tasks == nil)
    #expect(job.state.meaning == .pending && job.reason == "Priority" && job.priority == 42)
    #expect(job.submitted == 1_795_882_908 && job.start == nil && job.end == nil)
    #expect(job.partition == "short" && job.user == "ann" && job.qualityOfService.isEmpty)
    #expect(job.dependencies.isEmpty && !job.hasUnmetDependencies && job.commandID == "7")
  }

  @Test(
    "SV-12: The name of a job cannot forge another job",
    arguments: [
      "a\n" + line(8, marker: "M"), "a\n" + line(8, marker: ""), "a\u{1f}b\u{1f}c", "\u{1b}[2J\r\n",
      "",
      "line\n\nline", "\u{202e}",
    ])
  func hostileName(name: String) throws {
    let all = jobs("a warning", Self.line(1, name: name), Self.line(2, name: "last"))
    #expect(all.map(\.id) == [1, 2])
    #expect(all.first?.jobName.utf8.elementsEqual(name.utf8) == true)
    #expect(all.last?.jobName == "last")
  }

  @Test("SV-12: Lines of another format are skipped")
  func otherLines() {
    #expect(jobs("", "M-job", "M-job\u{1f}1", "M-jobs\u{1f}", "slurm_load_jobs error").isEmpty)
  }

  @Test(
    "SV-4: A job has its dependencies on other jobs without duplicates",
    arguments: [
      ("afterok:1(unfulfilled),afterany:2(failed)", ["1", "2"]),
      ("afterok:1(unfulfilled)?afternotok:1(unfulfilled)", ["1"]), ("singleton(unfulfilled)", []),
      ("after:8+10(unfulfilled)", ["8"]), ("afterok:5_3(unfulfilled)", ["5_3"]),
      ("afterany:5_*(unfulfilled)", ["5"]), ("aftercorr:5_*(unfulfilled)", ["5_c"]),
      ("nonsense,:,afterok:x,afterok:_,afterok:", []),
    ])
  func dependencies(text: String, expected: [String]) throws {
    let job = try #require(jobs(Self.line(9, dependency: text)).first)
    let found = job.dependencies.map { dependency in
      switch dependency.tasks {
      case .all: "\(dependency.job)"
      case .number(let number): "\(dependency.job)_\(number)"
      case .corresponding: "\(dependency.job)_c"
      }
    }
    #expect(found == expected)
    #expect(job.hasUnmetDependencies)
  }

  @Test(
    "SV-6: Commands name exactly the tasks that a row shows",
    arguments: [
      ("3", "5_3"), ("1-9%2", "5_[1-9]"), ("1,4-6", "5_[1,4-6]"), ("1-10:3%4", "5_[1,4,7,10]"),
      ("1,3,...", nil), ("1-", nil), ("9-1", nil), ("1-4000000:2", nil), ("1:0", nil),
      ("1,-", nil), ("1,:", nil), ("1,", nil), ("1:", nil), ("1-2-3", nil), ("1-:2", nil),
      ("1,+3", "5_[1,3]"), ("0,4294967294-4294967295:1", "5_[0,4294967294,4294967295]"),
      ("1-99999999999999999999", nil), ("1-3:4294967295", "5_[1]"),
    ])
  func tasks(text: String, expected: String?) throws {
    let job = try #require(jobs(Self.line(5, shown: "5_[…]", array: 5, tasks: text)).first)
    #expect(job.commandID == expected)
  }

  @Test(
    "SV-7: The words about a pending job have the reason as a sentence",
    arguments: [
      ("Priority", "pending: Priority; Slurm starts jobs with a higher priority first"),
      ("JobHeldUser", "pending: JobHeldUser; the user holds the job"), ("Odd", "pending: Odd"),
      (
        "JobArrayTaskLimit,JobHeldAdmin",
        "pending: JobArrayTaskLimit,JobHeldAdmin; as many tasks of the array run as the array"
      ),
      ("None", "pending"),
    ])
  func reasons(reason: String, expected: String) throws {
    let job = try #require(jobs(Self.line(5, reason: reason)).first)
    #expect(job.statusWords(now: 0).hasPrefix(expected))
  }

  @Test(
    "SV-2: The words about a failed job are the reason",
    arguments: [
      ("TIMEOUT", "TimeLimit", "TIMEOUT: it exceeded its time limit"),
      ("FAILED", "NonZeroExitCode", "it ended with an exit status that is not 0"),
      ("FAILED", "RaisedSignal:9(Killed)", "it ended by a signal: RaisedSignal:9(Killed)"),
      ("FAILED", "JobLaunchFailure", "it has failed: JobLaunchFailure"),
      ("RECONFIG_FAIL", "None", "Slurm has ended it: RECONFIG_FAIL"), ("COMPLETED", "None", nil),
      ("CANCELLED", "None", nil),
    ])
  func failures(state: String, reason: String, expected: String?) throws {
    let job = try #require(jobs(Self.line(5, state: state, reason: reason)).first)
    #expect(job.failureWords == expected)
  }

  @Test("SV-12: Random fields cause no trap, and an id for commands has no special characters")
  func randomFields() {
    let seed = SeededGenerator.announcedSeed()
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<20_000 {
      var fields = ["7", "7", "5", "1-3", "PENDING", "None", "1", "2", "3"]
      fields += ["n1", "main", "ann", "(null)", "42", "afterok:1(unfulfilled)", "job"]
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        fields[Int.random(in: 0..<fields.count, using: &generator)] =
          Self.randomField(using: &generator)
      }
      guard let job = WatchedSlurmJob(fields: fields.joined(separator: SlurmRecord.separator))
      else { continue }
      _ = (job.statusWords(now: 0), job.failureWords, job.isHeld, job.dependencies)
      let isValid = job.commandID?.allSatisfy { "0123456789_[],-".contains($0) }
      #expect(isValid != false, "seed \(seed): \(fields)")
    }
  }

  /// Returns a text of characters and numbers that the fields of Slurm contain.
  private static func randomField(using generator: inout SeededGenerator) -> String {
    let parts = [
      "", "-", ":", ",", "%", "_", "*", "(", ")", "+", "?", ".", "0", "1", "9", "afterok:", "N/A",
      "4294967295", "1099511627776", "9223372036854775807", "18446744073709551615", "é", "\u{301}",
      "\r", "\n", "\0", "(unfulfilled)", "PENDING", "RUNNING", "JobHeldUser",
    ]
    return (0..<Int.random(in: 0...6, using: &generator)).map { _ in
      parts[Int.random(in: 0..<parts.count, using: &generator)]
    }.joined()
  }

  // MARK: Answers

  private func answer(_ output: String) -> Result<SlurmWatch.Answer, SlurmCallFailure> {
    SlurmAnswer.watch(Array(output.utf8), marker: "M")
  }

  @Test("SV-10: An answer is complete, or a failure with Slurm's words")
  func answers() throws {
    let complete = try answer("Welcome\nM\ntest\n\(Self.line(1))\n\nM 0\n\nM\n").get()
    #expect(complete.cluster == "test" && complete.jobs.map(\.id) == [1])
    #expect(complete.jobs.map(\.jobName) == ["job"])
    #expect(try answer("M\n\n\nM 0\na warning\nM\n").get().jobs.isEmpty)
    for cut in ["", "M\ntest\n\(Self.line(1))\n", "M\n", "M\n\n\nM 0\n"] {
      #expect(answer(cut) == .failure(.init(reason: "there was no answer of squeue")))
    }
    #expect(
      answer("M\n\n\nM 1\nsqueue: error: Invalid user: x\nM\n")
        == .failure(.init(reason: "Invalid user: x")))
    let unknown = "M\n\n\(Self.line(1))\n\nM 0\nsqueue: error: Invalid user: x\nM\n"
    #expect(answer(unknown) == .failure(.init(reason: "Invalid user: x")))
    #expect(
      answer("M\n\n\nM 127\nsh: squeue: not found\nM\n")
        == .failure(.init(reason: "the command squeue was not found")))
    // The error of squeue is known even if the last line of its output is cut.
    let cut = "M\n\n\(Self.line(1).prefix(9))\nM 1\nsqueue: error: Socket timed out\nM\n"
    #expect(answer(cut) == .failure(.init(reason: "Socket timed out")))
  }

  @Test("SV-8: The answer to a change has Slurm's words for each refused job")
  func changes() {
    func results(_ output: String, _ count: Int) -> [SlurmWatch.ChangeResult]? {
      SlurmAnswer.change(Array(output.utf8), count: count, marker: "M")
    }
    #expect(results("M 0\nM 0\nM end\n", 2) == [.accepted, .accepted])
    #expect(
      results(
        "M 0\n\nM 1\nInvalid user id for job 2\nslurm_suspend error: Invalid user id\nM end\n", 2)
        == [.accepted, .refused("Invalid user id")])
    #expect(results("M 1\n\nM end\n", 1) == [.refused("Slurm names no reason")])
    for (cut, count) in [("M 0\nM 0\n", 2), ("M 0\nM end\n", 2), ("", 0)] {
      #expect(results(cut, count) == nil)
    }
  }

  // MARK: Texts

  @Test("SV-12: An error of squeue in the middle of a line does not split the line")
  func separateErrors() async throws {
    let scene = try SlurmScriptScene()
    let (before, after) = ("7 7 7 N/A PENDING None 1 N/A N/A", "main ann x 42 (null) two\nlines\n")
    let words = (before.split(separator: " ") + [""] + after.split(separator: " "))
      .joined(separator: SlurmRecord.separator)
    write(words, to: scene.directory.file("row"))
    // The option -o has the marker and the fields.
    let program = """
      while [ "$1" != -o ]; do shift; done
      printf '%s\\037' "${2%%-job*}-job"
      dd bs=1 count=20 2>/dev/null <"$OPQ_SCENE/row"
      echo 'squeue: error: slow' >&2
      dd bs=1 skip=20 2>/dev/null <"$OPQ_SCENE/row"
      echo 'squeue: error: again' >&2
      """
    TestProgram.write(program, to: scene.directory.file("bin/squeue"))
    let answer = try await SlurmWatch(commandPrefix: scene.prefix).jobs(of: .own, asksCluster: true)
    #expect(answer.jobs.map(\.id) == [7] && answer.jobs.first?.state.meaning == .pending)
    #expect(answer.jobs.first?.jobName == "two\nlines" && answer.cluster.isEmpty)
    #expect(answer.jobs.first?.dependencies == [])
  }

  @Test("SV-10: If squeue is not found, the error says so")
  func missingCommand() async throws {
    let scene = try SlurmScriptScene()
    let watch = SlurmWatch(commandPrefix: ["env", "PATH=\(scene.directory.path)"])
    await #expect(
      throws: SlurmAccessError(description: "the command squeue was not found")
    ) { try await watch.jobs(of: .all, asksCluster: false) }
  }

  @Test("SV-8: A change is one call; if Slurm refuses it, each job is changed in a separate call")
  func changeCalls() async throws {
    let scene = try SlurmScriptScene()
    let watch = SlurmWatch(commandPrefix: scene.prefix)
    #expect(await watch.change(["1", "2_[3,4]"], .cancel) == [.accepted, .accepted])
    #expect(scene.calls(of: "scancel") == ["scancel 1 2_[3,4]"])
    // The replacement of scontrol fails.
    let refused = SlurmWatch.ChangeResult.refused("Slurm names no reason")
    #expect(await watch.change(["1", "2"], .hold) == [refused, refused])
    #expect(
      scene.calls(of: "scontrol") == ["scontrol hold 1 2", "scontrol hold 1", "scontrol hold 2"])
  }

  @Test("SV-8: Many jobs are changed in several calls, and earlier answers remain if one is lost")
  func manyChanges() async throws {
    let scene = try SlurmScriptScene()
    let most = SlurmScript.mostChanges
    // The second call ends the shell.
    TestProgram.write(
      """
      echo "scancel $*" >>"$OPQ_SCENE/calls"
      case " $* " in *' \(most + 1) '*) kill -KILL $PPID ;; esac
      """, to: scene.directory.file("bin/scancel"))
    let ids = (1...(3 * most)).map { "\($0)" }
    let results = await SlurmWatch(commandPrefix: scene.prefix).change(ids, .cancel)
    #expect(results.prefix(most).allSatisfy { $0 == .accepted })
    #expect(results.count == 3 * most && results.dropFirst(most).allSatisfy { $0 == .lost })
    #expect(
      scene.calls(of: "scancel")
        == [ids[..<most], ids[most..<(2 * most)]].map {
          "scancel \($0.joined(separator: " "))"
        })
  }

  @Test("SV-11: The end of an output file is read, and a file that is not regular is not read")
  func output() async throws {
    let scene = try SlurmScriptScene()
    let watch = SlurmWatch(commandPrefix: scene.prefix)
    let path = scene.directory.file("it's out")
    write("one\ntwo\n", to: path)
    let part = try await watch.output(.path(path), from: 4)
    #expect(part == .init(path: path, position: 4, bytes: Array("two\n".utf8)))
    #expect(try await watch.output(.path(path), from: 8).bytes == [])
    #expect(try await watch.output(.path(path), from: 99).position == 0)
    for other in ["/dev/null", scene.directory.path, scene.directory.file("absent"), ""] {
      #expect(try await watch.output(.path(other), from: 0).bytes == nil)
    }
    #expect(try await watch.output(.ofJob("5"), from: 0).path.isEmpty)
  }

  @Test("SV-11: Of a large file, only the end is read")
  func largeOutput() async throws {
    let scene = try SlurmScriptScene()
    let path = scene.directory.file("large")
    let size = SlurmOutputPart.longest + 10
    write(String(repeating: "x", count: Int(size)), to: path)
    let part = try await SlurmWatch(commandPrefix: scene.prefix).output(.path(path), from: 0)
    #expect(part.position == 10 && part.bytes?.count == Int(SlurmOutputPart.longest))
  }
}
