// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCommands

import Operations
import TestSupport
import Testing

@Suite("The environment of commands of a shim", .timeLimit(.minutes(5)), .onOwnThread)
struct ShimEnvironmentTests {
  private let scene: ShimScene

  init() throws { scene = try ShimScene() }

  /// A shell text that prints the variables with which its shell has started and whose names match a pattern.
  private func printing(_ pattern: String) -> String {
    "export LC_ALL=C; tr '\\000' '\\n' </proc/$$/environ | grep -aE '^(\(pattern))' | sort"
  }

  @Test("RD-2: The shim adds no variable to the environment")
  func environmentIsSame() async throws {
    var command = scene.command()
    command.inheritsEnvironment = false
    command.environment = ["A": "1", "PATH": "/usr/bin:/bin", "opq_shim": "x y", "opq_shim_": "z"]
    _ = try await scene.start("env", command).value
    // A shell adds these variables itself.
    let own = ["PWD", "OLDPWD", "SHLVL", "_"]
    let variables = scene.log.split(separator: "\n").filter { line in
      !own.contains { line.hasPrefix("\($0)=") }
    }
    #expect(
      variables.sorted() == ["A=1", "PATH=/usr/bin:/bin", "opq_shim=x y", "opq_shim_=z"])
  }

  @Test(
    "RD-2: Variables with special meanings for shells do not disturb the shim",
    arguments: ShimScene.shells)
  func specialVariablesAreHarmless(shell: String) async throws {
    let scene = scene.withShell(shell)
    var command = scene.command()
    command.environment = [
      "SHELLOPTS": "allexport:errexit:monitor:nounset", "IFS": "0123456789", "ENV": "/opq/no",
      "BASH_ENV": "/opq/no",
    ]
    for name in ["echo", "read", "umask", "exit", "exec", "set", "unset"] {
      command.environment["BASH_FUNC_\(name)%%"] = "() { exit 1; }"
    }
    let error = await scene.failure(of: scene.operation("env; sleep 0.1; exit 7", command))
    #expect(error?.exitStatus == 7)
    let lines = scene.log.split(separator: "\n")
    #expect(lines.contains("SHELLOPTS=allexport:errexit:monitor:nounset"))
    #expect(!lines.contains { $0.hasPrefix("opq_shim") })
    #expect(contents(of: scene.files().status) == "7\n")
    #expect(try scene.files().processes.command != nil)
  }

  @Test(
    "RD-2: A shim that cannot write its line, and whose shell ends at errors, stores the exit status",
    arguments: ShimScene.shells)
  func failedLineIsHarmless(shell: String) async throws {
    let scene = scene.withShell(shell)
    // The input is not writable.
    var command = Command(
      scene.programs.shell,
      [
        "-e", "-c", ShimScript.script("v"), "opq-shim", scene.files().base, scene.programs.setsid,
        "/bin/sh", "exit 7",
      ])
    command.output = .discarded
    let error = await failure(of: command)
    #expect(error?.exitStatus == 7)
    #expect(contents(of: scene.files().status) == "7\n")
  }

  @Test(
    "RD-2: The command gets variables whose names are no names of shell variables",
    arguments: ShimScene.shells)
  func foreignVariablesArePassed(shell: String) async throws {
    let scene = scene.withShell(shell)
    var command = scene.command()
    command.environment = [
      "a.b": "x 'y' \"z\" $(w)\nsecond line", "-1": "", "opq.é": "=",
      "BASH_FUNC_f%%": "() { echo called; }",
    ]
    _ = try await scene.start(printing("a\\.b=|second|-1=|opq|BASH_FUNC_f"), command).value
    // The shim leaves none of its variables.
    #expect(
      scene.log == """
        -1=
        BASH_FUNC_f%%=() { echo called; }
        a.b=x 'y' "z" $(w)
        opq.é==
        second line

        """)
  }

  @Test("RD-2: A function that bash has exported can be called", arguments: ShimScene.shells)
  func exportedFunctionIsCalled(shell: String) async throws {
    guard ShimScene.shells.contains("/bin/bash") else { return }
    let scene = scene.withShell(shell)
    var command = scene.command()
    command.environment["BASH_FUNC_f%%"] = "() { echo called; }"
    let operation = scene.operation("f", command, shell: "/bin/bash")
    scene.queue.addOperation(operation)
    _ = try await operation.value
    #expect(scene.log == "called\n")
  }

  @Test("RD-2: Variables of this process with such names are passed, unless they are removed")
  func inheritedForeignVariables() async throws {
    var runner = Command(
      BuiltFolder.path(of: "fixture-commands"),
      ["shim", scene.files().base, printing("c\\.d=")])
    runner.environment["c.d"] = "1"
    _ = try await run(runner)
    #expect(scene.log == "c.d=1\n")
    var command = scene.command()
    command.environment = ["c.d": nil, "e": "1"]
    #expect(!ShimEnvironment(of: command).foreign.contains { $0.entry.hasPrefix("c.d") })
  }

  @Test("RD-2: The names of the shim's variables are free, and only foreign variables need others")
  func variablesOfShim() {
    var command = Command("sh")
    command.inheritsEnvironment = false
    command.environment = ["A_1": "x", "opq_shim0": "y", "opq_shim_": "z"]
    let plain = ShimEnvironment(of: command)
    #expect(plain.variable == "opq_shim__" && plain.foreign.isEmpty)
    command.environment["1A"] = "1"
    command.environment["A.B"] = "2"
    let foreign = ShimEnvironment(of: command).foreign
    #expect(foreign.map(\.variable) == ["opq_shim__0", "opq_shim__1"])
    #expect(foreign.map(\.entry) == ["1A=1", "A.B=2"])
    #expect(!ShimScript.script("v").contains("$5"))
  }
}
