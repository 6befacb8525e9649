// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests of hosts that cannot be used, and of the relay.
@Suite(
  "Failures of other machines", .serialized, .timeLimit(.minutes(5)), .onOwnThread,
  .enabled(if: SSHServer.isInstalled, SSHServer.missing))
struct MachineFailureTests {
  /// A host that cannot be used.
  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let program: @Sendable () -> MachineScene.FarProgram
    var host = "login"
    let status: Int32
    let words: [String]
  }

  static let cases = [
    Case(
      testDescription: "a login that fails", program: { .built }, host: "refused", status: 5,
      words: ["cannot log in to refused: ", "Permission denied"]),
    Case(
      testDescription: "no opq-top", program: { .missing }, status: 3,
      words: ["opq-top was not found on login"]),
    Case(
      testDescription: "an older opq-top",
      program: { .script(#"echo 'opq-top: unknown command "relay"; …' >&2; exit 2"#) }, status: 4,
      words: ["opq-top on login is too old", "relay"]),
    Case(
      testDescription: "text of a login shell",
      program: {
        .script(#"printf 'Welcome \033[31mto \033]0;x\007web1\n'; exec "$PROGRAM" "$@""#)
      },
      status: 1, words: ["login sent text before opq-top's first message", "Welcome"]),
    Case(
      testDescription: "a flood of text", program: { .script("exec yes") }, status: 1,
      words: ["login sent text before opq-top's first message"]),
    Case(
      testDescription: "a flood after the preamble",
      program: { .script(#"printf '\000opq-relay\000'; exec yes"#) }, status: 1, words: ["login"]),
    Case(
      testDescription: "another end", program: { .script("echo 'the disk is full' >&2; exit 3") },
      status: 1, words: ["the connection to login ended", "the disk is full"]),
  ]

  @Test("RM-6, RM-8: If a host cannot be used, opq-top prints one sentence", arguments: cases)
  func unusable(_ failure: Case) throws {
    let scene = try MachineScene(failure.program())
    for arguments in [["attach", "\(failure.host):4711", "--batch"], ["ls", failure.host]] {
      let program = try scene.run(arguments)
      #expect(program.ending == .status(failure.status), "\(arguments)\n\(program.errors)")
      program.expectSentence()
      for word in failure.words { #expect(program.errors.contains(word), "\(program.errors)") }
      #expect(program.output.isEmpty)
      #expect(program.errors.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 })
    }
  }

  @Test("RM-4: A login that is limited to opq-top relay selects a process only by its id")
  func limitedLogin() throws {
    let scene = try MachineScene(.script(#"exec "$PROGRAM" relay"#))
    let process = try scene.process()
    // A process that crashed had the same id, and has left its socket.
    let folder = URL(filePath: process.socket).deletingLastPathComponent()
    symlink("/nonexistent", folder.appending(path: "\(process.id)-1.sock").path)
    let found = try scene.run(["attach", "login:\(process.id)", "--batch", "-n", "1"])
    #expect(found.ending == .status(0), "\(found.errors)")
    let other = try scene.run(["cancel", "1", "-H", "login", "-p", "2147483646"])
    #expect(other.ending == .status(3), "\(other.errors)")
    for option in [["--wait", "\(process.id)"], ["--socket", process.socket], ["--run", "r"]] {
      let refused = try scene.run(["cancel", "1", "-H", "login"] + option)
      #expect(refused.ending == .status(1), "\(refused.errors)")
      refused.expectSentence("login", "only a process id selects a process")
    }
  }

  @Test("RM-6: If the host has no such process, opq-top prints one sentence and exits with 3")
  func noProcess() throws {
    let scene = try MachineScene()
    let process = try scene.process()
    for arguments in [
      ["attach", "login:2147483646", "--batch"],
      ["attach", "login:\(process.id)", "login:2147483646", "--batch"],
      ["why", "1", "-H", "login", "-p", "2147483646"],
    ] {
      let program = try scene.run(arguments)
      #expect(program.ending == .status(3), "\(program.errors)")
      program.expectSentence("login", "no process 2147483646")
    }
  }

  @Test(
    "RM-5: A host that begins with a hyphen is refused before ssh is started",
    arguments: [
      ["ls", "-H", "-oProxyCommand=touch x"], ["attach", "-H-x", "4711", "--batch"],
      ["why", "1", "-p", "-x:4711"], ["why", "1", "-H", "web 1"], ["ls", "-H", ""],
    ])
  func hostNames(arguments: [String]) throws {
    let scene = try MachineScene()
    let program = try scene.run(arguments)
    #expect(program.ending == .status(2), "\(program.errors)")
    program.expectSentence()
    #expect(scene.logins.isEmpty)
  }

  @Test("RM-8: If a far side sends without a pause, its connection ends, and memory is limited")
  func flood() throws {
    // The relay answers until the test creates a file. Then the far side sends empty messages without a pause.
    let scene = try MachineScene(
      .script(
        #"""
        exec 3<&0
        "$PROGRAM" "$@" <&3 &
        until test -e "$SCENE/flood" || ! test -d "$SCENE"; do sleep 0.02; done
        kill -9 $!
        exec cat /dev/zero
        """#))
    let process = try scene.process()
    let window = try scene.show(["attach", "login:\(process.id)"], until: "LIVE")
    try Data().write(to: URL(filePath: scene.directory.file("flood")))
    #expect(window.wait { $0.contains("RECONNECTING") }, "\(window.screen)")
    window.absorb(for: .seconds(2))
    let viewer = try #require(window.child)
    let memory = try #require(ProcessStatus.amount("VmHWM", of: viewer))
    print("a viewer of a far side that floods used \(memory / 1_024) MiB")
    #expect(memory < 400_000)
    scene.close(window)
  }

  @Test("RM-3: A signal ends opq-top and a command that has not connected")
  func interrupted() throws {
    let scene = try MachineScene(.script("exec sleep 600"))
    let program = try scene.start(["attach", "login:1", "--batch"])
    #expect(scene.wait { scene.relays.count == 1 }, "\(program.errors)")
    program.window.signal(SIGTERM)
    #expect(program.end() == .signal(SIGTERM))
    let login = try #require(scene.logins.first)
    #expect(scene.wait { !scene.isAlive(login) }, "ssh outlives opq-top")
  }

  @Test("RM-3: The relay refuses a terminal with one sentence, and ends when its input ends")
  func relay() throws {
    let window = try PseudoTerminal(columns: 120, rows: 10)
    try window.start(BuiltProgram.path, ["relay"])
    #expect(window.waitForEnd() == .status(2), "\(window.screen)")
    #expect(window.screen.lines.filter { !$0.isEmpty }.count == 1, "\(window.screen)")
    #expect(window.screen.contains("opq-top: ") && window.screen.contains("terminal"))
    // The input is empty, and ends at once.
    let ended = try BuiltProgram.shellOutput(
      "{ : | '\(BuiltProgram.path)' relay 1; echo $?; } 2>&1 | cat -v")
    #expect(ended == "^@opq-relay^@0\n")
  }
}
