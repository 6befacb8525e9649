// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import TestSupport
import Testing

@testable import JobRun
@testable import OpqTop

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("The inputs of a run", .timeLimit(.minutes(5)), .onOwnThread)
struct RunInputsTests {
  private static let text = "jobs:\n  only: {run: 'true'}\n"

  private func inputs(_ path: String, isLines: Bool = false) throws -> RunInputs {
    try RunInputs(path, isLines: isLines, width: nil, only: [], until: [], failsFast: false)
  }

  /// Writes a text to an open file.
  private func put(_ text: String, to file: Int32) {
    let bytes = Array(text.utf8)
    #expect(file >= 0 && write(file, bytes, bytes.count) == bytes.count)
  }

  @Test("RD-1: A job file is read again, also through a link")
  func file() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("jobs.yaml")
    let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    put(Self.text, to: file)
    close(file)
    #expect(symlink(path, directory.file("link.yaml")) == 0)
    for path in [path, directory.file("link.yaml")] {
      let inputs = try inputs(path)
      #expect(inputs.input == nil)
      #expect(inputs.request.file == path && inputs.request.title == path)
    }
  }

  @Test("RD-1: The bytes of a process substitution are stored", arguments: [false, true])
  func processSubstitution(isLines: Bool) throws {
    let text = isLines ? "true\n" : Self.text
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    defer { close(ends[0]) }
    put(text, to: ends[1])
    close(ends[1])
    let inputs = try inputs("/dev/fd/\(ends[0])", isLines: isLines)
    #expect(inputs.input == Array(text.utf8))
    #expect(inputs.request.file == nil && inputs.request.title == "/dev/fd/\(ends[0])")
    #expect(inputs.plan.jobs.count == 1)
  }

  @Test("RD-1: A pipe is read to its end, also if its writer is slow")
  func slowPipe() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    let (reader, writer) = (ends[0], ends[1])
    defer { close(reader) }
    startThread {
      for part in Self.text.split(separator: "\n") {
        put("\(part)\n", to: writer)
        // The next part comes after this one was read.
        var count: Int32 = 1
        while count > 0, ioctl(writer, UInt(FIONREAD), &count) == 0 { usleep(1_000) }
      }
      close(writer)
    }
    #expect(try inputs("/dev/fd/\(reader)").input == Array(Self.text.utf8))
  }

  @Test("RD-1: The bytes of a pipe with a name are stored")
  func namedPipe() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("jobs.yaml")
    #expect(mkfifo(path, 0o600) == 0)
    startThread {
      // Each of the two ends is opened when the other one is.
      let writer = open(path, O_WRONLY | O_CLOEXEC)
      put(Self.text, to: writer)
      close(writer)
    }
    let inputs = try inputs(path)
    #expect(inputs.input == Array(Self.text.utf8) && inputs.request.file == nil)
  }

  @Test("RD-1: The bytes of an open file are stored, because its name is another file later")
  func openFile() throws {
    let directory = try TemporaryDirectory()
    let file = open(directory.file("jobs.yaml"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(file) }
    put(Self.text, to: file)
    for name in ["/dev/fd/\(file)", "/proc/self/fd/\(file)"] {
      let inputs = try inputs(name)
      #expect(inputs.input == Array(Self.text.utf8) && inputs.request.file == nil, "\(name)")
    }
  }
}
