// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import MonitorProtocol
import MonitorTestSupport
import TestSupport
import Testing

@testable import OpqTop

/// Tests of recording and replaying from the command line.
@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct ReplayCommandTests {
  private func write(_ bytes: [UInt8], _ process: MonitoredProcess) throws -> String {
    let file = process.runtime.file("\(UUID().uuidString).opqrec")
    try Data(bytes).write(to: URL(filePath: file))
    return file
  }

  private func count(_ word: String, in line: Substring) -> Int? {
    let words = line.split { " ,;:".contains($0) }
    return words.firstIndex(of: Substring(word)).flatMap { Int(words[$0 + 1]) }
  }

  @Test("A recording shows the counts that the process had")
  func recordsAndReplays() throws {
    let process = try MonitoredProcess()
    let file = process.runtime.file("a.opqrec")
    let before = try process.finishedCount()
    let (output, errors, ending) = try process.run(
      ["record", "-p", "\(process.id)", "-o", file, "--for", "2s"])
    #expect(ending == .status(0), "\(errors)")
    #expect(output == "" && errors.contains("\(file): ") && errors.contains(" updates, "))
    let after = try process.finishedCount()
    let played = try process.run(["replay", file, "--batch", "-d", "500ms"])
    #expect(played.ending == .status(0) && played.errors == "")
    let frames = played.output.split(separator: "\n").filter { $0.contains(" total ") }
    let finished = frames.compactMap { count("finished", in: $0) }
    #expect(frames.count >= 3 && finished == finished.sorted())
    #expect(try #require(finished.first) >= before && #require(finished.last) <= after)
    #expect(frames.allSatisfy { $0.contains("demo-monitored-process[\(process.id)]") })
    // The command does not overwrite an existing file if `--force` is missing.
    let again = try process.run(["record", "-p", "\(process.id)", "-o", file, "--for", "10ms"])
    #expect(again.ending == .status(2) && again.errors.contains("already exists"))
    let forced = try process.run(
      ["record", "-p", "\(process.id)", "-o", file, "--for", "10ms", "--force"])
    #expect(forced.ending == .status(0))
  }

  @Test("A failed attempt to record overwrites no recording and leaves no file")
  func keepsWhatIsThere() throws {
    let process = try MonitoredProcess()
    let (old, new) = (process.runtime.file("old.opq"), process.runtime.file("new.opq"))
    try Data("before".utf8).write(to: URL(filePath: old))
    for (file, force) in [(old, ["--force"]), (new, [])] {
      let result = try process.run(
        ["record", "--socket", process.runtime.file("none"), "-o", file] + force)
      #expect(result.ending == .status(3), "\(result.errors)")
    }
    #expect(try String(contentsOfFile: old, encoding: .utf8) == "before")
    #expect(!FileManager.default.fileExists(atPath: new))
  }

  @Test(
    "A dashboard that cannot be shown overwrites no recording and leaves no file",
    arguments: [true, false])
  func aDashboardThatCannotBeShownRecordsNothing(isDemo: Bool) throws {
    let process = try MonitoredProcess()
    let (old, new) = (process.runtime.file("old.opq"), process.runtime.file("new.opq"))
    try Data("before".utf8).write(to: URL(filePath: old))
    let source = isDemo ? ["demo", "tiles"] : ["-p", "\(process.id)"]
    for (file, force) in [(old, ["--force"]), (new, [])] {
      let window = try PseudoTerminal(columns: 200, rows: 5)
      try window.start(
        BuiltProgram.path, source + ["--record", file] + force,
        environment: [MonitoredProcess.variable(process.runtime), "TERM=nonesuch"])
      #expect(window.waitForEnd() == .status(2))
      #expect(window.screen.lines[0].contains("TERM is \"nonesuch\""), "\(window.screen.lines)")
    }
    #expect(try String(contentsOfFile: old, encoding: .utf8) == "before")
    #expect(!FileManager.default.fileExists(atPath: new))
  }

  @Test("A signal, or the end of the process, completes the recording", arguments: [true, false])
  func ends(bySignal: Bool) throws {
    let process = try MonitoredProcess()
    let file = process.runtime.file("a.opqrec")
    let errors = process.runtime.file("errors")
    let recorder = try PseudoTerminal()
    try recorder.start(
      BuiltProgram.path, ["record", "-p", "\(process.id)", "-o", file],
      environment: [MonitoredProcess.variable(process.runtime)], redirections: [2: errors])
    try #require(poll(for: .seconds(30)) { (try? RecordingReader(path: file)) != nil })
    if bySignal { recorder.signal(SIGTERM) } else { process.signal(SIGTERM) }
    #expect(recorder.waitForEnd(seconds: 60) == .status(0))
    let reader = try RecordingReader(path: file)
    #expect(reader.fault == nil && reader.hello.processID == process.id)
  }

  @Test("If the file cannot grow, the recording ends with a sentence and can be replayed")
  func fullDisk() throws {
    let process = try MonitoredProcess()
    let file = process.runtime.file("a.opqrec")
    let errors = process.runtime.file("errors")
    let shell = try PseudoTerminal()
    // `ulimit -f 40` limits each file to 40 blocks of 1,024 bytes, so that the recording cannot be
    // written completely.
    let line = "ulimit -f 40; exec '\(BuiltProgram.path)' record -p \(process.id) -o '\(file)'"
    try shell.start(
      "/bin/bash", ["-c", line], environment: [MonitoredProcess.variable(process.runtime)],
      redirections: [2: errors])
    #expect(shell.waitForEnd(seconds: 120) == .status(1))
    let said = try String(contentsOfFile: errors, encoding: .utf8)
    #expect(said.split(separator: "\n").count == 1)
    #expect(said.contains("the recording stopped: cannot write \(file): File too large"))
    let played = try process.run(["replay", file, "--batch"])
    #expect(played.output.contains("demo-monitored-process[\(process.id)] total"))
    #expect(played.errors.contains("not completed") && played.ending == .status(1))
  }

  @Test("A failure to replay is reported in one sentence, with the matching status")
  func refusals() throws {
    let process = try MonitoredProcess()
    func fails(_ file: String, _ status: Int32, _ words: String) throws {
      let (output, errors, ending) = try process.run(["replay", file])
      #expect(ending == .status(status), "\(errors)")
      #expect(output == "" && errors.contains(words) && errors.hasPrefix("opq-top: "))
      #expect(errors.split(separator: "\n").count == 1)
    }
    try fails("/nowhere/at/all", 2, "cannot open")
    try fails("/dev/null", 2, "is not a file")
    try fails(write(Array("anything".utf8), process), 2, "not an opq-top recording")
    var other = ReplayScene.bytes()
    other[6] = 2
    try fails(write(other, process), 4, "has format version 2.1; this opq-top reads version 1.1")
    let whole = try write(ReplayScene.bytes(), process)
    try fails(whole, 2, "use --batch")
  }

  @Test("A newer minor version, and a file that was cut off, are played in the dashboard")
  func dashboard() throws {
    let process = try MonitoredProcess()
    var newer = ReplayScene.bytes()
    newer[10] = 200
    let window = try process.watch(["replay", write(newer, process)], until: "REPLAY 00:")
    window.type(" ")
    #expect(window.wait { $0.contains("PAUSED") })
    // On a busy machine, much of the recording has already been played.
    window.type("\u{1B}<")
    #expect(window.wait { $0.contains("REPLAY 00:00/00:59 PAUSED") })
    window.type("}")
    #expect(window.wait { $0.contains("REPLAY 00:19/00:59 PAUSED") && $0.contains("total 20") })
    window.type("((,")
    #expect(window.wait { $0.contains("REPLAY 00:08/00:59") && $0.contains("total 9") })
    window.type(")]]]]] ")
    #expect(window.wait { $0.contains("REPLAY 00:59/00:59 PAUSED") && $0.contains("total 60") })
    window.type("x")
    #expect(window.wait { $0.contains("a recording cannot be changed") })
    window.type("q")
    #expect(window.waitForEnd() == .status(0))

    let cut = try write(Array(ReplayScene.bytes(isFinished: false).dropLast(1)), process)
    let second = try process.watch(["replay", cut], until: "REPLAY 00:")
    second.type("\u{1B}>")
    #expect(
      second.wait { $0.contains("REPLAY 00:58/00:58 PAUSED") && $0.contains("total 59") })
    #expect(second.wait { $0.contains("the recording was not completed") })
    second.type("q")
    #expect(second.waitForEnd() == .status(0))
  }

  @Test("T29: Texts in a recording cannot control the terminal")
  func hostileNames() throws {
    let process = try MonitoredProcess()
    var hello = ReplayScene.hello
    hello.processName = "a\u{1B}]0;x\u{7}b\nc"
    var update = ReplayScene.update(1)
    update.changed[0].name = "\u{1B}[2Jd"
    var writer = RecordingWriter()
    let bytes =
      writer.add(.hello(hello)) + writer.add(.update(update))
      + writer.add(.ended(reason: "\u{1B}[2Je")) + writer.finish()
    let file = try write(bytes, process)
    let played = try process.run(["replay", file, "--batch"])
    #expect(played.ending == .status(0))
    #expect(played.output.contains("[4711] total 1:"))
    for text in [played.output, played.errors] {
      #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 || $0 == "\n" })
    }
    let window = try process.watch(["replay", file], until: "the recording ends here: ")
    // The remark about the end of the recording appears before the first update is shown, so the
    // test also waits for the update.
    #expect(window.wait { $0.contains("[4711]") && $0.contains("total 1") })
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("A live view can be recorded while it is shown", arguments: [true, false])
  func recordsALiveView(isDemo: Bool) throws {
    let process = try MonitoredProcess()
    let file = process.runtime.file("a.opqrec")
    let source = isDemo ? ["demo", "tiles"] : ["-p", "\(process.id)"]
    let (output, errors, ending) = try process.run(
      source + ["--batch", "-n", "3", "-d", "300ms", "--record", file])
    #expect(ending == .status(0), "\(errors)")
    let last = try #require(output.split(separator: "\n").last { $0.contains(" total ") })
    let total = try #require(count("total", in: last))
    let played = try process.run(["replay", file, "--batch"])
    #expect(played.ending == .status(0), "\(played.errors)")
    let recorded = try #require(
      played.output.split(separator: "\n").last { $0.contains(" total ") })
    #expect(total > 0 && count("total", in: recorded) ?? 0 > 0)
    // A recorded demo has the name that the dashboard shows, and not the name of the program.
    let name = try RecordingReader(path: file).hello.processName
    #expect(name == (isDemo ? "tiles" : "demo-monitored-process"))
  }
}
