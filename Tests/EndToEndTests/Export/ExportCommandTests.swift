// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import MonitorProtocol
import RunAnalysis
import MonitorTestSupport
import TestSupport
import Testing

@testable import OpqTop

/// Tests of complete runs of `opq-top export` and `opq-top report`.
@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct ExportCommandTests {
  private let directory: TemporaryDirectory
  private let recording: String

  init() throws {
    directory = try TemporaryDirectory()
    recording = directory.file("run.opq")
    try Data(ExportScene.bytes()).write(to: URL(filePath: recording))
  }

  /// Runs a command line of the shell in the directory, and returns its output, its errors and the
  /// status of its last command.
  private func run(_ line: String) throws -> (output: String, errors: String, ending: String) {
    let errors = directory.file("errors")
    let output = try BuiltProgram.shellOutput(
      "cd '\(directory.path)'; opq-top() { '\(BuiltProgram.path)' \"$@\"; }; "
        + "{ \(line); } 2>'\(errors)'; echo \"back $?\"")
    let lines = output.components(separatedBy: "back ")
    return (
      lines.dropLast().joined(separator: "back "),
      try String(contentsOfFile: errors, encoding: .utf8),
      lines.last?.trimmingCharacters(in: .newlines) ?? ""
    )
  }

  @Test("An export goes to standard output or to a file, which is not overwritten without --force")
  func writes() throws {
    let csv = try run("opq-top export run.opq --format csv")
    #expect(csv.output == (try ExportScene.text(.csv)) && csv.errors == "" && csv.ending == "0")
    for (format, name) in [("chrome-trace", "a.json"), ("dot", "a.dot"), ("csv", "a.csv")] {
      let result = try run("opq-top export run.opq --format \(format) -o \(name)")
      #expect(result.output == "" && result.errors == "" && result.ending == "0")
      let text = try String(contentsOfFile: directory.file(name), encoding: .utf8)
      #expect(text == (try ExportScene.text(try #require(ExportFormat(rawValue: format)))))
    }
    let again = try run("opq-top export run.opq --format csv -o a.csv")
    #expect(again.ending == "2" && again.errors.contains("a.csv already exists"))
    #expect(try run("opq-top export run.opq --format csv -o a.csv --force").ending == "0")
    let report = try run("opq-top report run.opq -o report.html")
    #expect(report.ending == "0" && report.errors == "")
    let page = try String(contentsOfFile: directory.file("report.html"), encoding: .utf8)
    #expect(page.hasPrefix("<!DOCTYPE html>") && page.hasSuffix("</html>\n"))
  }

  @Test(
    "Each failure gives one sentence and the matching status",
    arguments: [
      ("opq-top export run.opq", "2", "--format"),
      ("opq-top export run.opq --format svg", "2", "svg"),
      ("opq-top export none.opq --format csv", "2", "cannot open none.opq"),
      ("opq-top export text --format dot", "2", "not an opq-top recording"),
      ("opq-top report run.opq -o no/where.html", "2", "cannot create no/where.html"),
      ("opq-top export run.opq --format csv --filter 'state:?'", "2", "state"),
      ("opq-top export run.opq --format csv -o /dev/full --force", "1", "No space left"),
      ("opq-top export run.opq --format csv >/dev/full", "1", "cannot write to standard output"),
    ])
  func fails(arguments: String, status: String, sentence: String) throws {
    try Data("nothing".utf8).write(to: URL(filePath: directory.file("text")))
    let result = try run(arguments)
    #expect(result.ending == status && result.errors.contains(sentence), "\(result.errors)")
    #expect(result.output == "" && result.errors.split(separator: "\n").count == 1)
    #expect(FileManager.default.fileExists(atPath: "/dev/full"))
  }

  @Test("A reader that closes the pipe early is not an error")
  func brokenPipe() throws {
    // With 20,000 operations, the output is larger than the buffer of a pipe.
    let reports = (1...20_000).map { number in
      OperationReport(
        id: .init(UInt64(number)), name: "tile \(number)", className: "Tile", queue: .init(1),
        state: .ready)
    }
    try Data(ExportScene.bytes(reports)).write(to: URL(filePath: recording))
    let result = try run(
      "set -o pipefail; opq-top export run.opq --format csv | head -c 10 >/dev/null")
    #expect(result.errors == "" && result.ending == "0")
  }

  @Test("A cut-off recording is exported up to its end, with a message")
  func cut() throws {
    try Data(ExportScene.bytes(isFinished: false)).write(to: URL(filePath: recording))
    let result = try run("opq-top export run.opq --format csv")
    #expect(result.output == (try ExportScene.text(.csv)))
    #expect(result.ending == "1" && result.errors.contains("was not completed"))
  }

  @Test("A recording of another major version is refused with the status 4")
  func otherVersion() throws {
    var bytes = ExportScene.bytes()
    bytes[6] = 9
    try Data(bytes).write(to: URL(filePath: recording))
    for command in ["opq-top export run.opq --format csv", "opq-top report run.opq"] {
      let result = try run(command)
      #expect(result.ending == "4" && result.errors.contains("has format version 9.1"))
    }
  }

  @Test("An incomplete file is removed")
  func fullDisk() throws {
    // `ulimit -f 1` limits each file to one block of 1 KiB, so that the file cannot be written
    // completely.
    let limited = try run("ulimit -f 1; opq-top export run.opq --format chrome-trace -o b.json")
    #expect(limited.ending == "1")
    #expect(limited.errors.contains("cannot write b.json"))
    #expect(!FileManager.default.fileExists(atPath: directory.file("b.json")))
    // An existing file is replaced only when the new file is complete.
    try Data("before".utf8).write(to: URL(filePath: directory.file("c.json")))
    let replacing = try run(
      "ulimit -f 1; opq-top export run.opq --format chrome-trace -o c.json --force")
    #expect(replacing.ending == "1")
    #expect(try String(contentsOfFile: directory.file("c.json"), encoding: .utf8) == "before")
    let left = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    #expect(left.allSatisfy { ["run.opq", "errors", "c.json"].contains($0) }, "\(left)")
  }

  @Test(
    "A linked file is replaced, only its owner can read it, and the recording is never overwritten")
  func replaces() throws {
    let lines = "touch a.csv; chmod 666 a.csv; ln -s a.csv link.csv; "
    #expect(
      try run(lines + "opq-top export run.opq --format csv -o link.csv --force").ending == "0")
    #expect(try run("test -L link.csv && stat -c %a a.csv").output == "600\n")
    let text = try String(contentsOfFile: directory.file("a.csv"), encoding: .utf8)
    #expect(text == (try ExportScene.text(.csv)))
    let own = try run(
      "ln run.opq same.opq; opq-top export run.opq --format csv -o same.opq --force")
    #expect(own.ending == "2" && own.errors.contains("same.opq is the recording itself"))
    #expect(try Data(contentsOf: URL(filePath: recording)) == Data(ExportScene.bytes()))
  }

  @Test("A pipe is not a recording, and the program does not wait for a writer")
  func pipe() throws {
    let result = try run("mkfifo pipe; opq-top report pipe")
    #expect(result.ending == "2" && result.errors.contains("pipe is not a file"))
  }
}
