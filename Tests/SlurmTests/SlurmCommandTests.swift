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
  "Commands on a Slurm cluster", .serialized, .timeLimit(.minutes(5)), .onSlurm, .onOwnThread,
  .enabled(if: SlurmNodes.areInstalled, SlurmNodes.missing))
struct SlurmCommandTests {
  // MARK: Ends

  @Test("SL-7, SL-14: The result of a command has its output, and its duration on the node")
  func result() async throws {
    let scene = try SlurmScene()
    let result = try await scene.add(shell: "echo välkommen; echo err >&2; sleep 1").value
    #expect(result.text == "välkommen\nerr\n" && result.errorOutput.isEmpty)
    #expect(result.isOutputComplete)
    #expect(result.duration >= .seconds(1) && result.duration < .seconds(30))
  }

  @Test("SL-7: A command that fails has its exit status and its last line")
  func exitStatus() async throws {
    let error = try await SlurmScene().failure(of: Command(shell: "echo no rule; exit 3"))
    #expect(error?.code == .exitStatus && error?.exitStatus == 3)
    #expect(error?.description == "“echo no rule; exit 3” ended with exit status 3: no rule")
  }

  @Test("SL-7: A command that a signal ends has the number of the signal")
  func signal() async throws {
    let error = try await SlurmScene().failure(of: Command(shell: "kill -KILL $$"))
    #expect(error?.code == .signal && error?.signal == SIGKILL)
  }

  @Test("SL-17: If the wrapper is killed, Slurm's record has the signal")
  func killedWrapper() async throws {
    let scene = try SlurmScene()
    let error = await scene.failure(of: Command(shell: "kill -KILL 0"))
    #expect(error?.code == .signal && error?.signal == SIGKILL)
  }

  @Test("SL-8: A job that is cancelled by hand fails with the state in Slurm's words")
  func cancelledByHand() async throws {
    let scene = try SlurmScene()
    let command = Command(shell: "echo \"$SLURM_JOB_ID\" >\(scene.file("by-hand")); sleep 600")
    let operation = scene.add(command)
    #expect(scene.waitForLines(1, in: "by-hand"))
    scene.nodes.shell("scancel \(scene.lines(of: "by-hand")[0])")
    await operation.waitUntilFinished()
    let error = operation.error as? CommandError
    #expect(error?.code == .endedBySlurm && error?.slurmState == "CANCELLED")
    #expect(!operation.isCancelled)
  }

  @Test("SL-17: If the node cannot write the files of the job, the error has their path")
  func unusableFiles() async throws {
    let scene = try SlurmScene()
    let operation = scene.add(shell: "echo", SlurmResources(options: ["--begin=now+3"]))
    #expect(scene.waitForStatus("pending: BeginTime", of: operation))
    _ = try await run(Command("rm", ["-r", scene.cluster.directory]))
    await operation.waitUntilFinished()
    let error = try #require(operation.error as? CommandError)
    #expect(error.code == .file && error.path?.hasPrefix(scene.cluster.directory) == true)
    #expect("\(error)".hasSuffix("the node cannot use the directory of the cluster"))
  }

  @Test("SL-17: If the directory of the cluster cannot be created, the command is not submitted")
  func unusableDirectory() async throws {
    let scene = try SlurmScene(directory: "taken/jobs")
    scene.nodes.shell("echo >'\(scene.file("taken"))'")
    let error = await scene.failure(of: Command("true"))
    #expect(error?.code == .file && error?.path?.hasPrefix(scene.cluster.directory) == true)
  }

  // MARK: Refusals

  @Test(
    "SL-9: A refused job fails with Slurm's own words in one sentence",
    arguments: [
      (SlurmResources(partition: "nope"), "Invalid partition name specified"),
      (SlurmResources(memory: "1000G"), "Requested node configuration is not available"),
      (SlurmResources(gpus: 2), "Invalid generic resource (gres) specification"),
      (SlurmResources(options: ["--time=abc"]), "Invalid --time specification"),
    ])
  func refused(resources: SlurmResources, words: String) async throws {
    let error = try await SlurmScene().failure(of: Command("true"), resources)
    #expect(error?.description == "“true” was refused by Slurm: \(words)")
  }

  @Test(
    "SL-9: The error of a user without permission has Slurm's own words",
    .enabled(if: geteuid() == 0, "only root can be another user"))
  func withoutPermission() async throws {
    let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    let scene = try SlurmScene(directory: "of another user", before: user)
    let error = await scene.failure(of: Command("true"), SlurmResources(partition: "closed"))
    #expect(
      error?.description
        == "“true” was refused by Slurm: User's group not permitted to use this partition")
    var command = Command("id", ["-u"])
    command.workingDirectory = "/"
    let folder = scene.file("other-user")
    #expect(mkdir(folder, 0o700) == 0 && chown(folder, 65_534, 65_534) == 0)
    let cluster = SlurmCluster(
      directory: folder, commandPrefix: user + scene.nodes.prefix, sharesFiles: true,
      pollInterval: .seconds(1))
    let operation = CommandOperation(command, on: .slurm(cluster))
    scene.queue.addOperation(operation)
    #expect(try await operation.value.text == "65534\n")
  }

  // MARK: Pending jobs

  @Test(
    "SL-10: An operation on a full cluster has the reason of Slurm as its status and in its log")
  func fullCluster() async throws {
    let scene = try SlurmScene()
    let all = SlurmResources(cpus: 2)
    let blockers = (0..<2).map { _ in
      scene.add(shell: "echo begun >>\(scene.file("full")); sleep 600", all)
    }
    #expect(scene.waitForLines(2, in: "full"))
    let waiting = scene.add(shell: "echo", all)
    #expect(scene.waitForStatus("pending: Resources", of: waiting))
    #expect(waiting.isExecuting)
    let cancelled = scene.add(shell: "echo", all)
    #expect(scene.waitForStatus("pending: Priority", of: cancelled))
    cancelled.cancel()
    await cancelled.waitUntilFinished()
    for blocker in blockers { blocker.cancel() }
    _ = try await waiting.value
    #expect(
      waiting.storedLines.contains(
        "Slurm has not started the job: Slurm waits until the resources are free (Resources)"
      ))
  }

  @Test("SL-11: The status of a command that runs and has written nothing has the name of the node")
  func runningNode() async throws {
    let scene = try SlurmScene()
    let gate = scene.file("gate-n2")
    let operation = scene.add(
      shell: "while ! [ -e \(gate) ]; do sleep 0.1; done",
      SlurmResources(options: ["--nodelist=n2"]))
    #expect(scene.waitForStatus("running on n2", of: operation))
    write("", to: gate)
    _ = try await operation.value
  }

  // MARK: Environment

  @Test("SL-15: The command has the changes of the environment, and runs in its directory")
  func environment() async throws {
    let scene = try SlurmScene()
    var command = Command("env", ["-0"])
    command.environment = ["OPQ A": "it's\n$HOME", "HOME": nil]
    let text = try await scene.add(command).value.text
    let variables = text.split(separator: "\0").map { String($0) }
    #expect(variables.contains("OPQ A=it's\n$HOME"))
    #expect(!variables.contains { $0.hasPrefix("HOME=") })
    #expect(variables.contains { $0.hasPrefix("PATH=") })
    #expect(variables.contains { $0.hasPrefix("SLURM_JOB_ID=") })
    var directory = Command("pwd")
    directory.workingDirectory = scene.nodes.work
    #expect(try await scene.add(directory).value.text == "\(scene.nodes.work)\n")
  }

  @Test("SL-15: A command without the inherited environment has only its own variables and Slurm's")
  func ownEnvironment() async throws {
    var command = Command("/usr/bin/env")
    command.inheritsEnvironment = false
    command.environment = ["OPQ": "1"]
    let lines = try await SlurmScene().add(command).value.text.split(separator: "\n")
    #expect(lines.contains("OPQ=1"))
    let others = lines.filter { !$0.hasPrefix("SLURM") && !$0.hasPrefix("PWD=") }
    #expect(others == ["OPQ=1"])
  }

  @Test("SL-15: In a job of Slurm, the variables of this job are not those of the new job")
  func variablesOfEnclosingJob() async throws {
    let scene = try SlurmScene(before: ["env", "SLURM_JOB_ID=1", "SLURM_OPQ=1", "OPQ=1"])
    let lines = try await scene.add(Command("env")).value.text.split(separator: "\n")
    #expect(lines.contains("OPQ=1") && !lines.contains("SLURM_OPQ=1"))
  }

  @Test("SL-15: A directory that does not exist on the node is an error")
  func noDirectory() async throws {
    var command = Command("pwd")
    command.workingDirectory = "/nonexistent/opq"
    let error = try await SlurmScene().failure(of: command)
    #expect(error?.code == .workingDirectory && error?.path == "/nonexistent/opq")
  }

  @Test("SL-15: A missing file or program is the same error as on this machine")
  func obstacles() async throws {
    let scene = try SlurmScene()
    #expect(await scene.failure(of: Command("opq-no-such-program"))?.code == .programNotFound)
    var command = Command("true")
    command.input = .file("/nonexistent/a")
    let error = await scene.failure(of: command)
    #expect(error?.code == .file && error?.path == "/nonexistent/a")
  }

  @Test("SL-15: A program with an equals sign in its name is not a variable")
  func equalsSign() async throws {
    let scene = try SlurmScene()
    let program = scene.file("a=b")
    TestProgram.write("echo \"$1\"", to: program)
    #expect(try await scene.add(Command(program, ["x y"])).value.text == "x y\n")
  }

  // MARK: Combination

  @Test("SL-18: A timeout cancels the job")
  func timeout() async throws {
    let scene = try SlurmScene()
    let operation = TimeoutOperation(after: .seconds(3)) {
      CommandOperation(Command(shell: "sleep 600"), on: .slurm(scene.cluster))
    }
    scene.queue.addOperation(operation)
    await #expect(throws: OperationTimeoutError.self) { try await operation.value }
    #expect(scene.nodes.shell("squeue -h -t running,pending") == "")
  }

  @Test("SL-18: A retry submits a job for each attempt")
  func retry() async throws {
    let scene = try SlurmScene()
    let command = Command(
      shell:
        "echo \"$SLURM_JOB_ID\" >>\(scene.file("attempts")); [ $(wc -l <\(scene.file("attempts"))) = 3 ]"
    )
    let operation = RetryOperation(maximumAttempts: 5) { _ in
      CommandOperation(command, on: .slurm(scene.cluster))
    }
    scene.queue.addOperation(operation)
    _ = try await operation.value
    #expect(Set(scene.lines(of: "attempts")).count == 3)
  }

  @Test("SL-7: The operations of a diamond run in the order of their dependencies, on both nodes")
  func diamond() async throws {
    let scene = try SlurmScene()
    func add(_ name: String, after dependencies: [Operation]) -> CommandOperation {
      let text = """
        echo "begin \(name)" >>\(scene.file("diamond")); sleep 1
        echo "$SLURMD_NODENAME" >>\(scene.file("nodes")); echo "end \(name)" >>\(scene.file("diamond"))
        """
      let operation = CommandOperation(
        Command(shell: text), dependencies: dependencies,
        on: .slurm(scene.cluster, SlurmResources(cpus: 2)))
      scene.queue.addOperation(operation)
      return operation
    }
    let top = add("top", after: [])
    let sides = [add("left", after: [top]), add("right", after: [top])]
    let bottom = add("bottom", after: sides)
    _ = try await bottom.value
    let lines = scene.lines(of: "diamond")
    #expect(lines.count == 8)
    #expect(lines.prefix(2) == ["begin top", "end top"])
    #expect(lines.suffix(2) == ["begin bottom", "end bottom"])
    #expect(Set(scene.lines(of: "nodes")) == ["n1", "n2"])
  }

  @Test("SL-1: 300 operations of width 20 use one call of squeue in a second")
  func manyOperations() async throws {
    let scene = try SlurmScene()
    scene.nodes.shell("sdiag --reset")
    let begin = ContinuousClock.now
    let gate = scene.file("gate-300")
    let operations = (1...300).map { number in
      let text = "while ! [ -e \(gate) ]; do sleep 0.1; done; echo \(number)"
      return CommandOperation(Command(shell: text), on: .slurm(scene.cluster))
    }
    scene.queue.addOperations(operations)
    #expect(
      poll(for: .seconds(60), pausing: true) { operations.count { $0.isExecuting } == 20 })
    #expect(scene.waitForStatus("pending", of: operations[19]))
    #expect(operations.count { $0.isExecuting } == 20)
    write("", to: gate)
    await scene.queue.waitUntilAllOperationsAreFinished()
    let seconds = Int(begin.duration(to: .now) / .seconds(1)) + 1
    for (index, operation) in operations.enumerated() {
      #expect(try operation.result?.get().text == "\(index + 1)\n")
    }
    let calls = scene.queueCalls
    print("300 operations in \(seconds) s, \(calls) calls of squeue")
    #expect(calls >= 1 && calls <= seconds + 1)
  }

  @Test("SL-22: All files of the jobs are deleted")
  func filesAreDeleted() async throws {
    let scene = try SlurmScene(directory: "deleted")
    _ = try await scene.add(shell: "echo").value
    _ = await scene.failure(of: Command("false"))
    let cancelled = scene.add(shell: "echo begun >\(scene.file("begun")); sleep 600")
    #expect(scene.waitForLines(1, in: "begun"))
    cancelled.cancel()
    await cancelled.waitUntilFinished()
    let left = try await run(Command("ls", ["-A", scene.cluster.directory])).text
    #expect(left == "")
  }
}
