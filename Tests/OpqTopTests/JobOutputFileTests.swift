// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import TestSupport
import Testing

@testable import OpqTop

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("Reading the output of jobs", .timeLimit(.minutes(5)))
struct JobOutputFileTests {
  private let temporary: TemporaryDirectory

  init() throws { temporary = try TemporaryDirectory() }

  private var path: String { temporary.file("output") }

  private func write(_ bytes: [UInt8]) throws {
    let file = try #require(fopen(path, "w"))
    #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
    fclose(file)
  }

  /// A reader of the job `job`. The output of its last attempt is the file of this test.
  private func reader(attemptCount: Int = 1) -> OutputReader {
    OutputReader { [path] name in
      name != "job"
        ? nil
        : JobOutput(
          attemptCount: { attemptCount },
          path: { $0 == attemptCount ? path : "\(path).\($0)" })
    }
  }

  private func request(
    _ position: OutputRequest.Position, attempt: Int? = nil, limit: Int = 100
  ) -> OutputRequest {
    OutputRequest(name: "job", attempt: attempt, position: position, lineLimit: limit)
  }

  /// Reads all lines from the start, page by page.
  private func linesForward(limit: Int) throws -> [OutputPage.Line] {
    let file = try opened()
    var lines: [OutputPage.Line] = []
    var offset: UInt64 = 0
    while offset < file.size {
      let read = file.lines(at: .offset(offset), lineLimit: limit)
      lines += read.lines.filter { $0.offset >= offset }
      guard read.end > offset else { break }
      offset = read.end
    }
    return lines
  }

  /// Reads all lines from the end, page by page.
  private func linesBackward(limit: Int) throws -> [OutputPage.Line] {
    let file = try opened()
    var lines = file.lines(at: .end, lineLimit: limit).lines
    while let first = lines.first, first.offset > 0 {
      let read = file.lines(at: .offset(first.offset), lineLimit: limit)
      let more = read.lines.filter { $0.offset < first.offset }
      guard !more.isEmpty else { break }
      lines = more + lines
    }
    return lines
  }

  /// Opens the file of this test.
  private func opened() throws -> JobOutputFile {
    // The macro `require` takes only copyable values.
    guard let file = JobOutputFile(path: path) else {
      throw TemporaryDirectory.Failure(code: ENOENT)
    }
    return file
  }

  // MARK: Lines

  @Test(
    "JR-21: Lines are read from both ends",
    arguments: [
      ("", []), ("\n", [""]), ("one", ["one"]), ("one\n", ["one"]),
      ("one\n\ntwo", ["one", "", "two"]),
      ("one\r\ntwo\r\n", ["one", "two"]), ("a\rb\n", ["a\rb"]),
      ("\u{0}\n\u{1B}[2J", ["\u{0}", "\u{1B}[2J"]),
    ])
  func lines(text: String, expected: [String]) throws {
    try write(Array(text.utf8))
    #expect(try linesForward(limit: 1).map(\.text) == expected)
    #expect(try linesBackward(limit: 1).map(\.text) == expected)
  }

  @Test("JR-21: A line is the same, whatever part of the file is read", arguments: 0..<8)
  func sameLines(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    var bytes: [UInt8] = []
    while bytes.count < 300_000 {
      // Long lines, lines of two bytes, characters of up to four bytes and bytes that are no characters.
      let length = [0, 1, 60, 1_022, 1_024, 5_000, 80_000].randomElement(using: &random) ?? 0
      let character = ["x", "é", "漢", "😀", "\u{0}"].randomElement(using: &random) ?? "x"
      for _ in 0..<length / character.utf8.count { bytes += Array(character.utf8) }
      if Bool.random(using: &random) { bytes += [0xFF, 0xE2, 0x80] }
      if Int.random(in: 0..<4, using: &random) > 0 { bytes.append(UInt8(ascii: "\n")) }
    }
    try write(bytes)
    let lines = try linesForward(limit: 50)
    #expect(try linesBackward(limit: 50) == lines)
    #expect(lines.allSatisfy { $0.text.utf8.count <= 3 * Int(OutputLines.longest) })
    // Each byte belongs to one line.
    #expect(lines.first?.offset == 0)
    let starts = lines.map(\.offset) + [UInt64(bytes.count)]
    for (index, line) in lines.enumerated() {
      var slice = bytes[Int(starts[index])..<Int(starts[index + 1])]
      if slice.last == UInt8(ascii: "\n") { slice.removeLast() }
      #expect(line.text == String(decoding: slice, as: UTF8.self))
    }
    let known = Set(lines.map(\.offset))
    let file = try opened()
    for _ in 0..<20 {
      let offset = UInt64.random(in: 0..<file.size, using: &random)
      let read = file.lines(at: .offset(offset), lineLimit: 3)
      #expect(read.lines.allSatisfy { known.contains($0.offset) })
      #expect(read.lines.contains { $0.offset <= offset } && read.end > offset)
    }
  }

  @Test("JR-21: A character at the border of two pieces is not divided")
  func characterAtBorder() throws {
    for shift in 0..<4 {
      try write(
        Array(repeating: UInt8(ascii: "x"), count: shift)
          + (0..<2_000).flatMap { _ in Array("😀".utf8) })
      let lines = try linesForward(limit: 10)
      #expect(lines.count > 3)
      #expect(!lines.contains { $0.text.unicodeScalars.contains("\u{FFFD}") }, "\(shift)")
    }
  }

  @Test("JR-21: A newline at the border of two pieces adds no line", arguments: ["\n", "\r\n"])
  func newlineAtBorder(newline: String) throws {
    let line = String(repeating: "x", count: Int(OutputLines.pieceLength))
    try write(Array((line + newline + "next" + newline).utf8))
    #expect(try linesForward(limit: 10).map(\.text) == [line, "next"])
  }

  @Test("JR-21: A line of 100 MB costs as much as a short one")
  func hugeLine() throws {
    try write([UInt8(ascii: "a")])
    // The rest of the file is a gap, which is read as NUL bytes.
    #expect(truncate(path, 100_000_000) == 0)
    let file = try opened()
    for position in [OutputRequest.Position.end, .offset(0), .offset(50_000_000)] {
      let read = file.lines(at: position, lineLimit: 1_000)
      let length = read.lines.reduce(0) { $0 + $1.text.utf8.count }
      #expect(read.lines.count > 30 && read.lines.count < 200)
      #expect(length <= 2 * Int(JobOutputFile.windowLength + OutputLines.longest))
    }
    #expect(file.lines(at: .end, lineLimit: 1_000).end == 100_000_000)
    #expect(file.lines(at: .offset(0), lineLimit: 1_000).lines.first?.offset == 0)
  }

  @Test("JR-21: An offset after the end of the file means its end")
  func offsetAfterEnd() throws {
    try write(Array("one\ntwo\n".utf8))
    var reader = reader()
    let page = reader.page(request(.offset(.max)))
    #expect(page?.lines.map(\.text) == ["one", "two"] && page?.end == 8)
  }

  // MARK: Files

  @Test("JR-21: A missing file, a directory and a pipe have no output")
  func noFile() throws {
    var reader = reader()
    func isEmpty() -> Bool { reader.page(request(.end))?.facts.size == 0 }
    #expect(isEmpty())
    mkdir(path, 0o700)
    #expect(isEmpty())
    rmdir(path)
    mkfifo(path, 0o600)
    #expect(isEmpty())
    unlink(path)
    try write([])
    #expect(isEmpty())
    try write(Array("x".utf8))
    #expect(!isEmpty())
    unlink(path)
    #expect(isEmpty())
  }

  @Test("An unknown operation has no answer, and a job that has not started has no attempt")
  func unknownJob() throws {
    var reader = reader(attemptCount: 0)
    var request = request(.end)
    #expect(reader.page(request)?.facts == OutputFacts(size: 0, attempt: 0, attemptCount: 0))
    request.name = "other"
    #expect(reader.page(request) == nil)
  }

  @Test("JR-21: Each attempt has its file, and the latest one is the default")
  func attempts() throws {
    try write(Array("two".utf8))
    var reader = reader(attemptCount: 2)
    #expect(reader.page(request(.end))?.facts == OutputFacts(size: 3, attempt: 2, attemptCount: 2))
    #expect(reader.page(request(.end, attempt: 1))?.facts.size == 0)
    #expect(reader.page(request(.end, attempt: 7))?.facts.attempt == 2)
  }

  @Test("Lines that are known are not read again until the file changes")
  func knownLines() throws {
    try write(Array("one\n".utf8))
    var reader = reader()
    var request = request(.end)
    request.known = reader.page(request)?.facts
    #expect(request.known != nil && reader.page(request) == nil)
    try write(Array("one\ntwo\n".utf8))
    #expect(reader.page(request)?.lines.map(\.text) == ["one", "two"])
  }

  // MARK: Search

  private func find(
    _ text: String, from start: UInt64 = 0, isForward: Bool = true, limit: UInt64 = .max,
    readCount: UInt64 = 0
  ) throws -> JobOutputFile.Finding {
    try opened().find(
      text, from: start, isForward: isForward, byteLimit: limit, readCount: readCount)
  }

  @Test("JR-21: A search finds the next match in both directions, and continues at the other end")
  func search() throws {
    try write(Array("Error one\nerror two\nno\nERROR é\n".utf8))
    #expect(try find("error") == .found(0))
    #expect(try find("eRRor", from: 1) == .found(10))
    #expect(try find("error", from: 24) == .found(0))
    #expect(try find("error", from: 23, isForward: false) == .found(10))
    #expect(try find("error", from: 10, isForward: false) == .found(0))
    #expect(try find("error", from: 0, isForward: false) == .found(23))
    #expect(try find("é") == .found(29))
    #expect(try find("É") == .notFound)
    #expect(try find("two\nno") == .found(16))
    #expect(try find(String(repeating: "x", count: 200)) == .notFound)
    #expect(try find("error", from: .max) == .found(0))
  }

  @Test("JR-21: A match at the border of two parts that are read is found", arguments: [-3, -1, 0])
  func matchAtBorder(shift: Int) throws {
    let place = 256 * 1_024 + shift
    var bytes = [UInt8](repeating: UInt8(ascii: "."), count: 600_000)
    bytes.replaceSubrange(place..<place + 6, with: Array("needle".utf8))
    try write(bytes)
    #expect(try find("NEEDLE") == .found(UInt64(place)))
    #expect(try find("needle", from: 600_000, isForward: false) == .found(UInt64(place)))
    #expect(try find("needle", from: UInt64(place) + 1) == .found(UInt64(place)))
    #expect(try find("needle", from: UInt64(place) + 3, isForward: false) == .found(UInt64(place)))
  }

  @Test("JR-21: A search ends at its limit, and can continue there")
  func searchLimit() throws {
    var bytes = [UInt8](repeating: 0, count: 1_000_000)
    bytes[900_000] = UInt8(ascii: "x")
    try write(bytes)
    #expect(try find("x", limit: 400_000) == .limitReached(at: 400_000))
    #expect(try find("x", from: 400_000, limit: 400_000) == .limitReached(at: 800_000))
    #expect(try find("x", from: 800_000, limit: 400_000) == .found(900_000))
    #expect(
      try find("x", from: 800_000, isForward: false, limit: 400_000) == .limitReached(at: 400_000))
    #expect(try find("y", limit: 1_000_000) == .notFound)
    #expect(
      try find("y", from: 400_000, limit: 400_000, readCount: 400_000)
        == .limitReached(at: 800_000))
    #expect(try find("y", from: 800_000, limit: 400_000, readCount: 800_000) == .notFound)
  }

  @Test("The answer to a search has the line of the match and the lines around it")
  func searchAnswer() throws {
    try write(Array((0..<1_000).map { "line \($0)\n" }.joined().utf8))
    var reader = reader()
    var search = OutputSearch(
      name: "job", attempt: 1, text: "ne 500", start: 0, isForward: true, lineLimit: 5)
    guard case .found(let line, let page) = reader.search(search).outcome else {
      Issue.record("no match")
      return
    }
    #expect(page.lines.first { $0.offset == line }?.text == "line 500")
    #expect(page.lines.map(\.text) == (495..<505).map { "line \($0)" })
    search.text = "nothing"
    #expect(reader.search(search).outcome == .notFound)
    unlink(path)
    #expect(reader.search(search).outcome == .notFound)
  }
}
