// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import TestSupport
import Testing

@testable import OperationsCommands

@Suite(
  "Cancelling and reading commands on a Slurm cluster", .serialized, .timeLimit(.minutes(5)),
  .onSlurm, .onOwnThread, .enabled(if: SlurmNodes.areInstalled, SlurmNodes.missing))
struct SlurmCancellationTests {
  // MARK: Cancelling

  @Test("SL-12: A pending job that is cancelled is no longer in Slurm when the operation finishes")
  func cancelPending() async throws {
    let scene = try SlurmScene()
    let operation = scene.add(shell: "echo", SlurmResources(options: ["--begin=now+1hour"]))
    #expect(scene.waitForStatus("pending: BeginTime, expected", of: operation))
    operation.cancel()
    await operation.waitUntilFinished()
    #expect(throws: CancellationError.self) { try operation.result?.get() }
    #expect(scene.nodes.shell("squeue -h -t pending,running") == "")
  }

  @Test("SL-12: The command of a running job that is cancelled receives SIGTERM, and has ended")
  func cancelRunning() async throws {
    let scene = try SlurmScene()
    let log = EventLog<String>()
    var command = logged(
      "trap 'echo asked; exit' TERM; echo begun; while :; do sleep 0.1; done", in: log)
    command.gracePeriod = .seconds(20)
    let operation = scene.add(command)
    log.wait(for: "begun")
    operation.cancel()
    await operation.waitUntilFinished()
    #expect(throws: CancellationError.self) { try operation.result?.get() }
    #expect(log.events.last == "asked")
    #expect(scene.nodes.shell("squeue -h -t pending,running,completing") == "")
  }

  @Test("SL-13: A command that ignores SIGTERM receives SIGKILL after the grace period")
  func gracePeriod() async throws {
    let scene = try SlurmScene()
    let log = EventLog<String>()
    var command = logged("trap '' TERM; echo begun; while :; do sleep 0.1; done", in: log)
    command.gracePeriod = .seconds(1)
    let operation = scene.add(command)
    log.wait(for: "begun")
    let begin = ContinuousClock.now
    operation.cancel()
    await operation.waitUntilFinished()
    // Slurm's own limit is 30 seconds.
    #expect(begin.duration(to: .now) < .seconds(20))
  }

  @Test("SL-13: A program can end the grace period early")
  func earlyEndOfGracePeriod() async throws {
    let scene = try SlurmScene()
    let log = EventLog<String>()
    var command = logged("trap 'echo asked' TERM; echo begun; while :; do sleep 0.1; done", in: log)
    command.gracePeriod = .seconds(3600)
    let periods = GracePeriods()
    command.gracePeriods = periods
    let operation = scene.add(command)
    log.wait(for: "begun")
    let begin = ContinuousClock.now
    operation.cancel()
    log.wait(for: "asked")
    periods.end()
    await operation.waitUntilFinished()
    // Slurm's own limit is 30 seconds.
    #expect(begin.duration(to: .now) < .seconds(20))
  }

  @Test("SL-2, SL-12: Cancelling does not affect a job of another comment with the same id")
  func foreignJob() async throws {
    let scene = try SlurmScene()
    let foreign = scene.nodes.shell(
      "sbatch --parsable --begin=now+1hour -o /dev/null --comment=opq-foreign --wrap true")
    let id = try #require(Int(foreign.filter { $0 != "\n" }))
    let past = SlurmSubmission(comment: "opq-lost", name: "true", id: id, submitted: 0)
    let operation = SlurmOperation(
      Command("true"), on: scene.cluster, SlurmResources(),
      files: SlurmFiles(base: scene.file("foreign")), adopting: past, willSubmit: { _ in },
      didLearn: { _ in })
    scene.queue.addOperation(operation)
    #expect(poll(for: .seconds(60), pausing: true) { operation.hasBegun })
    operation.cancel()
    await operation.waitUntilFinished()
    #expect(scene.nodes.shell("squeue -h -j \(id) -o %T") == "PENDING\n")
    scene.nodes.shell("scancel \(id)")
  }

  // MARK: Output

  @Test("SL-14: Lines reach the closure while the command runs")
  func lines() async throws {
    let scene = try SlurmScene()
    let log = EventLog<String>()
    let gate = scene.file("gate")
    let operation = scene.add(
      logged("echo one; while ! [ -e \(gate) ]; do sleep 0.1; done; echo two", in: log))
    log.wait(for: "one")
    #expect(operation.isExecuting)
    write("", to: gate)
    _ = try await operation.value
    #expect(log.events == ["one", "two"])
    #expect(operation.storedLines.suffix(2) == ["one", "two"])
    #expect(operation.reportedStatus == "two")
  }

  @Test("SL-14: The output has all bytes up to the limit, and the error output is separate")
  func limits() async throws {
    let scene = try SlurmScene()
    var command = Command(shell: "seq 400000; echo error >&2")
    command.output = .collected(limit: 2_000_000)
    command.errorOutput = .collected(limit: 3)
    let result = try await scene.add(command).value
    #expect(result.output.count == 2_000_000 && result.errorOutput == Array("err".utf8))
    #expect(!result.isOutputComplete)
    command.output = .collected(limit: 1 << 30)
    #expect(try await scene.add(command).value.output.count == 2_688_895)
  }

  @Test("SL-14: A file is the input, and files get the output")
  func files() async throws {
    let scene = try SlurmScene()
    write("input\n", to: scene.file("input"))
    write("before\n", to: scene.file("output"))
    write("before\n", to: scene.file("errors"))
    var command = Command(shell: "cat; echo error >&2")
    command.input = .file(scene.file("input"))
    command.output = .file(scene.file("output"), appends: true)
    command.errorOutput = .file(scene.file("errors"))
    let operation = scene.add(command)
    #expect(try await operation.value.output.isEmpty)
    #expect(contents(of: scene.file("output")) == "before\ninput\n")
    #expect(contents(of: scene.file("errors")) == "error\n")
    #expect(operation.storedLines.suffix(2).sorted() == ["error", "input"])
  }

  @Test("SL-19: Without shared files, the files are read with the command prefix")
  func withoutSharedFiles() async throws {
    let scene = try SlurmScene(sharesFiles: false)
    let log = EventLog<String>()
    let gate = scene.file("gate-unshared")
    let lines = scene.add(
      logged("echo one; while ! [ -e \(gate) ]; do sleep 0.1; done; echo two", in: log))
    log.wait(for: "one")
    #expect(lines.isExecuting)
    write("", to: gate)
    var command = Command(shell: "seq 400000; printf '\\0\\377'")
    command.output = .collected(limit: 1 << 30)
    let result = try await scene.add(command).value
    #expect(result.output.count == 2_688_897 && result.output.suffix(2) == [0, 255])
    let error = await scene.failure(of: Command(shell: "echo bad; exit 4"))
    #expect(error?.exitStatus == 4 && error?.lastLine == "bad")
    _ = try await lines.value
    #expect(log.events == ["one", "two"])
  }

  @Test("SL-15, SL-19: A prefix like ssh begins in another directory with another environment")
  func remoteShell() async throws {
    // Like ssh, the script joins its words, and a shell interprets them.
    let script = try SlurmScene().file("remote shell")
    TestProgram.write(
      "cd /usr && exec env -i PATH=\"$PATH\" OPQ=remote /bin/sh -c \"$*\"", to: script)
    let scene = try SlurmScene(sharesFiles: false, before: [script])
    var command = Command(shell: "pwd; echo \"$OPQ $HOME $OTHER\"")
    command.environment = ["OTHER": "it's here", "HOME": "/nowhere"]
    #expect(try await scene.add(command).value.text == "/usr\nremote /nowhere it's here\n")
    command.workingDirectory = "lib"
    #expect(try await scene.add(command).value.text.hasPrefix("/usr/lib\n"))
    let cancelled = scene.add(shell: "sleep 600")
    #expect(scene.waitForStatus("running on", of: cancelled))
    cancelled.cancel()
    await cancelled.waitUntilFinished()
    #expect(scene.nodes.shell("squeue -h -t pending,running,completing") == "")
  }

  // MARK: Adoption

  @Test("SL-20: Another operation waits for the same job, and the command runs once")
  func adopts() async throws {
    let scene = try SlurmScene()
    let files = SlurmFiles(base: scene.file("jobs/1-make.1"))
    let submissions = EventLog<SlurmSubmission>()
    let learned = EventLog<SlurmSubmission>()
    let gate = scene.file("gate-adopted")
    let command = Command(
      shell: """
        echo run >>\(scene.file("adopted"))
        while ! [ -e \(gate) ]; do sleep 0.1; done; echo end >>\(scene.file("adopted"))
        """)
    func operation(_ adopted: SlurmSubmission?) -> SlurmOperation {
      let operation = SlurmOperation(
        command, on: scene.cluster, SlurmResources(), files: files, adopting: adopted,
        willSubmit: { submissions.note($0) }, didLearn: { learned.note($0) })
      scene.queue.addOperation(operation)
      return operation
    }
    let first = operation(nil)
    learned.wait(for: "the submission time") { $0.contains { $0.submitted != nil } }
    // A runner that was killed before it has recorded the id knows only the comment and the name.
    let second = operation(submissions.events[0])
    learned.wait(for: "the submission time twice") { $0.count { $0.submitted != nil } >= 2 }
    write("", to: gate)
    _ = try await first.value
    _ = try await second.value
    #expect(submissions.events.count == 1)
    #expect(scene.lines(of: "adopted") == ["run", "end"])
    // The job has ended, and its files have stayed.
    _ = try await operation(learned.events.last).value
    #expect(scene.lines(of: "adopted") == ["run", "end"])
  }

  @Test("SL-4, SL-20: A submission that did not reach Slurm is submitted again, and runs once")
  func submitsAgain() async throws {
    let scene = try SlurmScene()
    let files = SlurmFiles(base: scene.file("jobs/2-make.1"))
    let past = SlurmSubmission(named: "make")
    let submissions = EventLog<SlurmSubmission>()
    let operation = SlurmOperation(
      Command(shell: "echo run >>\(scene.file("again"))"), on: scene.cluster, SlurmResources(),
      files: files, adopting: past, willSubmit: { submissions.note($0) }, didLearn: { _ in })
    scene.queue.addOperation(operation)
    _ = try await operation.value
    #expect(submissions.events.count == 1 && submissions.events[0].comment != past.comment)
    // The earlier submission arrives late, and does not reach Slurm.
    let batch = SlurmBatch(
      command: Command(shell: "echo late >>\(scene.file("again"))"), files: files,
      submission: past, directory: "/")
    let late = try await scene.cluster.calls.run(
      SlurmScript.submit(
        past, batch: batch.text, resources: SlurmResources(), files: files, marker: "M"))
    #expect(
      SlurmAnswer.submission(late, marker: "M") == .unclear("the submission was revoked"))
    #expect(scene.nodes.shell("squeue -h -t pending,running") == "")
    #expect(scene.lines(of: "again") == ["run"])
  }

  @Test("SL-1, SL-12: Cancelling many operations at once uses few calls of squeue")
  func cancelTogether() async throws {
    let scene = try SlurmScene()
    let operations = (1...20).map { _ in
      scene.add(shell: "echo", SlurmResources(options: ["--begin=now+1hour"]))
    }
    for operation in operations {
      #expect(scene.waitForStatus("pending: BeginTime", of: operation))
    }
    scene.nodes.shell("sdiag --reset")
    let begin = ContinuousClock.now
    scene.queue.cancelAllOperations()
    await scene.queue.waitUntilAllOperationsAreFinished()
    let seconds = Int(begin.duration(to: .now) / .seconds(1)) + 1
    let calls = scene.queueCalls
    print("20 operations cancelled in \(seconds) s, \(calls) calls of squeue")
    // One call for the queue and one for cancelled jobs in each second.
    #expect(calls <= 2 * (seconds + 1))
    #expect(scene.nodes.shell("squeue -h -t pending,running") == "")
  }

  @Test("SL-3: If the answer of sbatch is lost, the job is found, and runs once")
  func lostAnswer() async throws {
    let script = try SlurmScene().file("losing answers")
    // The first call of sbatch has no output.
    TestProgram.write(
      """
      text=$(cat)
      case $text in
        *sbatch*)
          if mkdir "$0.lost" 2>/dev/null; then
            printf '%s\\n' "$text" | "$@" >/dev/null
            exit 1
          fi ;;
      esac
      printf '%s\\n' "$text" | "$@"
      """, to: script)
    let scene = try SlurmScene(before: [script])
    let operation = scene.add(shell: "echo run >>\(scene.file("lost-answer"))")
    _ = try await operation.value
    #expect(scene.lines(of: "lost-answer") == ["run"])
    _ = try await run(Command("test", ["-d", "\(script).lost"]))
  }
}
