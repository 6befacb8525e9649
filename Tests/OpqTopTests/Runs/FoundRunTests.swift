// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import MonitorClient
import Testing

@testable import JobRun
@testable import OpqTop

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("Runs on the command line") struct FoundRunTests {
  private func message(_ body: () throws -> Void) -> (text: String, status: Int32)? {
    do {
      try body()
      return nil
    } catch let error as AttachError {
      return (error.description, error.status)
    } catch {
      // As the program prints all other errors.
      return ("\(error)", 2)
    }
  }

  private func place(_ files: StoredFiles) throws -> RunPlaceOptions {
    try RunPlaceOptions.parse(["--state", files.state])
  }

  @Test(
    "RD-10: The path of the directory of a run has the place and the id",
    arguments: [
      ("/a/b/runs/ID", "/a/b", "ID"), ("/runs/ID", "/", "ID"), ("runs/ID", ".", "ID"),
      (".opq/runs/ID/", ".opq", "ID"), ("../x/.opq//runs/ID", "../x/.opq", "ID"),
    ])
  func paths(path: String, state: String, id: String) {
    #expect(RunPath(path)?.state == state && RunPath(path)?.id == id)
  }

  @Test("RD-10: Other paths are not runs", arguments: ["/", "a/b", "runs", "/ID", "x/runs/"])
  func otherPaths(path: String) { #expect(RunPath(path)?.state.isEmpty != false) }

  @Test("RD-10: A run is found by its id, by the beginning of its id, and by its path")
  func words() throws {
    let files = try StoredFiles()
    let place = try place(files)
    let id = files.directory.id
    for word in [nil, id, String(id.prefix(6))] {
      let run = try FoundRun(word, in: place)
      #expect(run.directory == files.directory)
      #expect(run.operand == "\(id) --state \(place.state ?? "")")
    }
    let run = try FoundRun(files.directory.path, in: nil)
    #expect(run.directory == files.directory && run.operand == files.directory.path)
  }

  @Test("RD-10: An unknown run is one sentence with the status 3")
  func unknownRuns() throws {
    let files = try StoredFiles()
    let place = try place(files)
    for word in ["19990101", "/none/of/these", "\(files.directory.path)x"] {
      let options = word.contains("/") ? nil : place
      let failure = message { _ = try FoundRun(word, in: options) }
      #expect(failure?.status == 3, "\(word): \(failure?.text ?? "")")
      let resume = message { _ = try FoundRun(word, resumedIn: options ?? .parse([])) }
      #expect(resume?.status == 3 && resume?.text == failure?.text, "\(word)")
    }
  }

  @Test("RD-10: An ambiguous id, and a place that cannot be read, have the status 2")
  func otherMistakes() throws {
    let files = try StoredFiles()
    _ = try StoredFiles.create(["job"], in: files.state)
    let place = try place(files)
    let ambiguous = message { _ = try FoundRun(String(files.directory.id.prefix(8)), in: place) }
    #expect(ambiguous?.status == 2 && ambiguous?.text.contains("begin with") == true)
    try files.append("", to: "\(files.state)/file")
    let file = try RunPlaceOptions.parse(["--state", "\(files.state)/file"])
    for word in [nil, "2027"] {
      #expect(message { _ = try FoundRun(word, in: file) }?.status == 2)
      #expect(message { _ = try FoundRun(word, resumedIn: file) }?.status == 2)
    }
  }

  @Test("RD-10: The path of a run and the option for its place exclude each other")
  func pathAndPlace() throws {
    let files = try StoredFiles()
    let place = try place(files)
    for word in [files.directory.path, "../x"] {
      let failure = message { _ = try FoundRun(word, in: place) }
      #expect(failure?.status == 2)
      #expect(failure?.text == "--state cannot be combined with the path of a run")
    }
  }

  @Test("RD-10: The words about a run that was found by its path are quoted for a shell")
  func quotedPath() throws {
    let files = try StoredFiles()
    let run = try StoredFiles.create(["job"], in: "\(files.state)/it's new")
    let path = run.path.replacing("'", with: #"'\''"#)
    #expect(try FoundRun(run.path, in: nil).operand == "'\(path)'")
  }

  @Test("RD-10: A run without a process names the commands that show its result, with the status 3")
  func endedRun() throws {
    let files = try StoredFiles()
    let run = try files.found
    let failure = message { _ = try run.process() }
    #expect(failure?.status == 3)
    #expect(
      failure?.text == """
        no process runs the jobs of \(run.directory.id); "opq-top runs" shows their states, and \
        "opq-top log JOB --run \(files.directory.path)" shows the output of a job
        """)
    let lock = try RunLock.take(files.directory)
    #expect(try run.process() == getpid())
    lock.release()
  }

  @Test("RD-10: A runner that is about to begin is awaited, and its absence is a sentence")
  func startingRun() throws {
    struct Stop: Error {}
    let files = try StoredFiles()
    let run = try FoundRun(
      StoredFiles.create(["job"], in: files.state, created: StoredFiles.now).path, in: nil)
    let sentence = "the run \(run.directory.id) is starting, and its process is not known yet"
    #expect(message { _ = try run.process() }?.text == sentence)
    var pauseCount = 0
    let absent = message {
      _ = try run.socket(patience: .milliseconds(20)) {
        pauseCount += 1
        usleep(5_000)
      }
    }
    #expect(absent?.text == sentence && absent?.status == 3 && pauseCount > 0)
    #expect(throws: Stop.self) { try run.socket { throw Stop() } }
    // The runner has the lock, and does not listen yet.
    let lock = try RunLock.take(run.directory)
    #expect(throws: Stop.self) { try run.socket { throw Stop() } }
    try files.append(JournalRecord.runner().line, to: run.directory.journal)
    #expect(message { _ = try run.socket { throw Stop() } }?.status == 3)
    lock.release()
    // A process deletes the run at this moment.
    let file = open(run.directory.lock, O_RDWR | O_CLOEXEC)
    #expect(flock(file, LOCK_EX | LOCK_NB) == 0 && ftruncate(file, 0) == 0)
    let locked = "the process that has locked the run \(run.directory.id) is not known"
    #expect(message { _ = try run.process() }?.text == locked)
    #expect(flock(file, LOCK_UN) == 0)
    close(file)
    // The runner of an earlier run is not awaited.
    #expect(message { _ = try files.found.socket { throw Stop() } }?.status == 3)
  }

  @Test("RD-10: All commands that take a process take a run")
  func commands() throws {
    let commands: [(any ParsableCommand.Type, [String])] = [
      (AttachCommand.self, []), (DefaultCommand.self, []), (WhyCommand.self, ["1"]),
      (TreeCommand.self, ["1"]), (LogCommand.self, ["1"]), (WaitCommand.self, ["1"]),
      (CancelCommand.self, ["1"]), (SuspendCommand.self, ["net"]), (ResumeCommand.self, ["net"]),
      (RecordCommand.self, ["-o", "x"]),
    ]
    for (command, arguments) in commands {
      _ = try command.parse(arguments + ["--run", "20270101"])
      #expect(OpqTop.helpMessage(for: command).contains("--run"), "\(command)")
      #expect(throws: (any Error).self) {
        try command.parse(arguments + ["--run", "20270101", "--pid", "7"])
      }
      // The states of `wait` are other ones. It takes the path of a run.
      guard command != WaitCommand.self else { continue }
      _ = try command.parse(arguments + ["--run", "20270101", "--state", "x"])
      guard command != LogCommand.self else { continue }
      #expect(throws: (any Error).self) { try command.parse(arguments + ["--state", "x"]) }
    }
  }

  @Test(
    "RD-9: Options of log that exclude each other are mistakes",
    arguments: [
      ["--json", "--run", "x"], ["--json", "--attempt", "1"], ["--attempt", "0"],
      ["--attempt", "-1"], ["--attempt", "1", "--pid", "7"], ["--state", "x", "--socket", "y"],
      ["--attempt", "1", "--recording", "f"], ["--run", "x", "--recording", "f"],
    ])
  func logOptions(arguments: [String]) {
    #expect(throws: (any Error).self) { try LogCommand.parse(["job"] + arguments) }
  }

  @Test("RD-9: A number is the name of a job if a run is named")
  func numericJob() throws {
    _ = try LogCommand.parse(["0", "--run", "x"])
    #expect(throws: (any Error).self) { try LogCommand.parse(["0"]) }
    #expect(try LogCommand.parse(["007", "--attempt", "2"]).name == "007")
  }

  @Test(
    "RD-8: Options of runs that exclude each other are mistakes",
    arguments: [
      ["--older-than", "3d"], ["--yes"], ["--prune", "--json"], ["--prune", "--older-than", "x"],
    ])
  func runsOptions(arguments: [String]) {
    #expect(throws: (any Error).self) { try RunsCommand.parse(arguments) }
  }

  @Test("RD-8: The list of runs can be ASCII")
  func runsOptionForASCII() throws { #expect(try RunsCommand.parse(["--ascii"]).ascii) }

  @Test("RD-10: The help of wait says how to name a run in another place")
  func helpOfWait() {
    let help = OpqTop.helpMessage(for: WaitCommand.self, columns: 1_000)
    #expect(help.contains("--run needs the path of its directory"))
  }

  @Test("RD-5: The help of retry names the options without effect. It accepts 1,001 jobs")
  func optionsOfRetry() throws {
    let help = OpqTop.helpMessage(for: RetryCommand.self, columns: 1_000)
    #expect(help.contains("only --ascii has an effect"))
    let jobs = Array(repeating: "job", count: 1_001)
    #expect(try RetryCommand.parse(jobs).jobs.count == 1_001)
  }
}
