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

@Suite(
  "Faults of a Slurm cluster", .timeLimit(.minutes(5)), .onOwnThread,
  .enabled(if: SlurmNodes.areInstalled, SlurmNodes.missing))
struct SlurmFaultTests {
  @Test("SL-4, SL-5: After the controller was killed, all commands run, and none twice at once")
  func killedController() async throws {
    let nodes = try SlurmNodes()
    // The wrapper changes its file every five seconds.
    let scene = try SlurmScene(nodes, wrapperLimit: .seconds(12))
    // If Slurm starts a job with the id of a job that it has forgotten on the same node, it kills the forgotten one.
    let operations = (1...6).map { number in
      let command = Command(
        shell: """
          exec 9>\(scene.file("lock-\(number)")); flock -n 9 || echo \(number) >>\(scene.file("twice"))
          echo \(number) >>\(scene.file("runs")); sleep 8 && echo \(number) >>\(scene.file("ends"))
          """)
      return RetryOperation(maximumAttempts: 3) { _ in
        CommandOperation(command, on: .slurm(scene.cluster))
      }
    }
    scene.queue.addOperations(operations)
    // Four jobs run, and two are pending. The controller writes its state every five seconds.
    #expect(scene.waitForLines(4, in: "runs"))
    #expect(
      poll(for: .seconds(60), pausing: true) {
        nodes.shell("squeue -h").count { $0 == "\n" } == operations.count
      })
    nodes.send(SIGKILL, to: "slurmctld")
    try nodes.startController()
    // If Slurm has forgotten jobs of the operations, these jobs can get their ids.
    let foreign = (1...2).map { _ in nodes.submitForeignJob() }
    // If a node still runs a job with a reissued id, Slurm drains the node.
    let resumer = Task.detached {
      while !Task.isCancelled {
        nodes.shell("scontrol update nodename=n1,n2 state=resume 2>/dev/null")
        try await Task.sleep(for: .seconds(1))
      }
    }
    for operation in operations { _ = try await operation.value }
    resumer.cancel()
    #expect(scene.lines(of: "ends").sorted() == (1...6).map { "\($0)" })
    #expect(scene.lines(of: "twice") == [])
    for id in foreign {
      let id = try #require(id)
      #expect(nodes.isForeignJobPending(id))
    }
  }

  @Test("SL-4: A job that the controller has lost is submitted again, and runs once")
  func lostJob() async throws {
    let nodes = try SlurmNodes()
    let scene = try SlurmScene(nodes)
    nodes.saveControllerState()
    let operation = scene.add(
      shell: "echo run >>\(scene.file("lost"))", SlurmResources(options: ["--begin=now+10"]))
    #expect(
      poll(for: .seconds(60), pausing: true) { nodes.shell("squeue -h -t pending") != "" })
    try nodes.restoreController()
    _ = try await operation.value
    #expect(scene.lines(of: "lost") == ["run"])
    #expect(
      operation.storedLines.contains(
        "Slurm has lost the job before its start; it is submitted again"))
  }

  @Test("SL-2, SL-4: If another job gets the id of a lost job, the command runs once in a new job")
  func reissuedId() async throws {
    let nodes = try SlurmNodes()
    let script = "\(nodes.work)/waiting"
    // While the file exists, each call waits.
    let barrier = "\(script).closed"
    TestProgram.write(
      "while [ -e \(barrier) ]; do sleep 0.1; done\nexec \"$@\"", to: script)
    let scene = try SlurmScene(nodes, before: [script])
    nodes.saveControllerState()
    let learned = EventLog<SlurmSubmission>()
    // Slurm starts a held job only after its release.
    let operation = SlurmOperation(
      Command(shell: "echo run >>\(scene.file("reissued"))"), on: scene.cluster,
      SlurmResources(options: ["--hold"]), files: SlurmFiles(base: scene.file("jobs/1-make.1")),
      willSubmit: { _ in }, didLearn: { learned.note($0) })
    scene.queue.addOperation(operation)
    learned.wait(for: "the first job") { $0.contains { $0.submitted != nil } }
    let lost = try #require(learned.events.last)
    // A call of squeue that began earlier can show once that no job exists. The next call shows the other job.
    write("", to: barrier)
    try nodes.restoreController()
    let foreign = try #require(nodes.submitForeignJob())
    try #require(foreign == lost.id)
    _ = try await run(Command("rm", [barrier]))
    learned.wait(for: "the second job") {
      $0.contains { $0.comment != lost.comment && $0.submitted != nil }
    }
    let second = try #require(learned.events.last?.id)
    #expect(second != foreign)
    nodes.shell("scontrol release \(second)")
    _ = try await operation.value
    #expect(scene.lines(of: "reissued") == ["run"])
    #expect(Set(learned.events.map(\.comment)).count == 2)
    #expect(nodes.isForeignJobPending(foreign))
  }

  @Test("SL-17, SL-20: The exit status of a job that Slurm has forgotten is that of the wrapper")
  func forgottenJob() async throws {
    let nodes = try SlurmNodes("MinJobAge=2")
    let scene = try SlurmScene(nodes)
    let files = SlurmFiles(base: scene.file("jobs/1-make.1"))
    let submissions = EventLog<SlurmSubmission>()
    func operation(_ adopted: SlurmSubmission?) -> SlurmOperation {
      let operation = SlurmOperation(
        Command(shell: "echo run >>\(scene.file("forgotten")); exit 3"), on: scene.cluster,
        SlurmResources(), files: files, adopting: adopted,
        willSubmit: { submissions.note($0) }, didLearn: { submissions.note($0) })
      scene.queue.addOperation(operation)
      return operation
    }
    await operation(nil).waitUntilFinished()
    #expect(poll(for: .seconds(180), pausing: true) { nodes.shell("squeue -h -t all") == "" })
    let later = operation(submissions.events.last)
    await later.waitUntilFinished()
    #expect((later.error as? CommandError)?.exitStatus == 3)
    #expect(scene.lines(of: "forgotten") == ["run"])
  }

  @Test("SL-8, SL-16: A command that exceeds the time limit of its job has the state TIMEOUT")
  func timeLimit() async throws {
    let nodes = try SlurmNodes()
    let scene = try SlurmScene(nodes)
    var command = Command(shell: "sleep 600")
    command.gracePeriod = .seconds(1)
    let error = await scene.failure(of: command, SlurmResources(time: .seconds(1)))
    #expect(error?.code == .endedBySlurm && error?.slurmState == "TIMEOUT")
    #expect(error?.reason == "it exceeded its time limit (TIMEOUT)")
  }

  @Test("SL-6: A controller that is stopped for 30 seconds changes nothing")
  func stoppedController() async throws {
    let nodes = try SlurmNodes()
    let scene = try SlurmScene(nodes)
    let gate = scene.file("gate")
    let running = scene.add(
      shell: """
        echo begun >>\(scene.file("running"))
        while ! [ -e \(gate) ]; do sleep 0.1; done; exit 3
        """)
    let pending = scene.add(
      shell: "echo begun >>\(scene.file("pending"))", SlurmResources(options: ["--begin=now+20"]))
    #expect(scene.waitForLines(1, in: "running"))
    #expect(scene.waitForStatus("pending: BeginTime", of: pending))
    nodes.send(SIGSTOP, to: "slurmctld")
    let begin = ContinuousClock.now
    #expect(scene.waitForStatus(", Slurm does not answer: ", of: running))
    #expect(scene.waitForStatus("Slurm does not answer: ", of: pending))
    // An operation that is submitted now is not refused.
    let late = scene.add(shell: "echo begun >>\(scene.file("late"))")
    try await Task.sleep(until: begin + .seconds(30), clock: .continuous)
    #expect(running.isExecuting && pending.isExecuting && late.isExecuting)
    nodes.send(SIGCONT, to: "slurmctld")
    write("", to: gate)
    _ = try await pending.value
    _ = try await late.value
    await running.waitUntilFinished()
    #expect((running.error as? CommandError)?.exitStatus == 3)
    for name in ["running", "pending", "late"] {
      #expect(contents(of: scene.file(name)) == "begun\n")
    }
  }

  @Test("SL-18, SL-21: If a node fails, its command fails, and a retry runs on the other node")
  func failedNode() async throws {
    let nodes = try SlurmNodes("SlurmdTimeout=5")
    // The wrapper changes its file every five seconds.
    let scene = try SlurmScene(nodes, wrapperLimit: .seconds(12))
    let errors = EventLog<String>()
    let command = Command(
      shell: """
        echo "$SLURMD_NODENAME" >>\(scene.file("nodes"))
        if [ $(wc -l <\(scene.file("nodes"))) = 1 ]; then sleep 600; fi
        """)
    let operation = RetryOperation(
      maximumAttempts: 2,
      shouldRetry: { error in
        errors.note("\((error as? CommandError)?.slurmState ?? "\(error)")")
        return true
      }
    ) { _ in CommandOperation(command, on: .slurm(scene.cluster)) }
    scene.queue.addOperation(operation)
    #expect(scene.waitForLines(1, in: "nodes"))
    let first = try #require(scene.lines(of: "nodes").first)
    try nodes.killNode(first)
    _ = try await operation.value
    #expect(errors.events == ["NODE_FAIL"])
    #expect(Set(scene.lines(of: "nodes")) == ["n1", "n2"])
  }
}

extension SlurmNodes {
  /// Copies the state of the controller.
  fileprivate func saveControllerState() {
    let state = directory.file("spool")
    shell("cp -a '\(state)/controller' '\(state)/earlier'")
  }

  /// Kills the controller, and starts it with the copied state, as if it had not written its state since the copy.
  fileprivate func restoreController() throws {
    let state = directory.file("spool")
    send(SIGKILL, to: "slurmctld")
    shell("rm -r '\(state)/controller'; mv '\(state)/earlier' '\(state)/controller'")
    try startController()
  }

  /// Submits a job that no operation has submitted, and that stays pending.
  ///
  /// - Returns: The id of the job; `nil` if Slurm has not accepted it.
  fileprivate func submitForeignJob() -> Int? {
    let text = shell(
      "sbatch --parsable -o /dev/null --begin=now+1hour --comment=opq-foreign --wrap true")
    return Int(text.filter { $0 != "\n" })
  }

  /// Returns whether Slurm has an unchanged job of ``submitForeignJob()`` with an id.
  fileprivate func isForeignJobPending(_ id: Int) -> Bool {
    shell("squeue -h -j \(id) -o '%T %k'") == "PENDING opq-foreign\n"
  }
}
