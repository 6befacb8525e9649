// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import Foundation
import MonitorProtocol
import TestSupport
import Testing

@testable import OpqTop

@Suite(.timeLimit(.minutes(10))) struct ExportFileTests {
  private let temporary: TemporaryDirectory

  init() throws { temporary = try TemporaryDirectory() }

  private var directory: String { temporary.path }

  private var files: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: directory).sorted() }
  }

  private func frame(of process: String = "tiles", count: Int = 3) -> BatchFrame {
    // The moment `anchor` in the greeting of the process is 2026-11-21T12:04:31Z.
    let hello = Hello(
      processName: process, processID: 4711, isReadOnly: false,
      anchor: MonitorTime(nanoseconds: 0), anchorSecondsSince1970: 1_795_262_671,
      processStarted: MonitorTime(nanoseconds: 0))
    let queue = QueueReport(id: .init(1), name: "io")
    return BatchFrame(
      hello: hello, time: MonitorTime(nanoseconds: 250_000_000), queues: [queue],
      operations: (0..<count).map {
        OperationReport(
          id: .init(UInt64($0)), name: "job \($0)", className: "Block", queue: queue.id,
          state: .ready)
      }, lostChanges: 0)
  }

  @Test func aFrameIsWrittenAsALineThatOnlyItsOwnerReads() throws {
    let frame = frame()
    let result = ExportFile.write(frame, in: directory)
    let name = "opq-top-tiles-4711-20261121T120431.json"
    #expect(result == .written(operationCount: 3, fileName: name))
    let text = try String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8)
    #expect(text.last == "\n" && text.count { $0 == "\n" } == 1)
    #expect(try JSONDecoder().decode(BatchFrame.self, from: Data(text.utf8)) == frame)
    let attributes = try FileManager.default.attributesOfItem(atPath: "\(directory)/\(name)")
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test func aSecondExportInTheSameSecondHasANumber() throws {
    let stem = ExportFile.stem(of: frame())
    // The export must not change an existing file or an existing link with the same name.
    try Data("theirs".utf8).write(to: URL(fileURLWithPath: "\(directory)/\(stem).json"))
    try FileManager.default.createSymbolicLink(
      atPath: "\(directory)/\(stem)-2.json", withDestinationPath: "elsewhere")
    for number in [3, 4] {
      #expect(
        ExportFile.write(frame(), in: directory)
          == .written(operationCount: 3, fileName: "\(stem)-\(number).json"))
    }
    #expect(try String(contentsOfFile: "\(directory)/\(stem).json", encoding: .utf8) == "theirs")
    #expect(try !files.contains("elsewhere"))
  }

  @Test(
    "The process's name is reduced to characters that a file name may have",
    arguments: [
      ("opq-top", "opq-top"), ("a b/../c", "ab..c"), ("漢字", "process"), ("", "process"),
      ("\u{1B}[2Jx_1.0", "2Jx_1.0"), (String(repeating: "n", count: 500), nil),
    ])
  func theNameIsReduced(process: String, name: String?) {
    let name = name ?? String(repeating: "n", count: 64)
    #expect(
      ExportFile.stem(of: frame(of: process)) == "opq-top-\(name)-4711-20261121T120431")
  }

  @Test func anIncompleteExportIsDeleted() throws {
    var calls = 0
    let result = ExportFile.write(frame(), in: directory) { file, bytes in
      calls += 1
      if calls > 1 { return -Int(ENOSPC) }
      return Glibc.write(file, bytes.baseAddress, bytes.count / 2)
    }
    #expect(calls == 2)
    #expect(
      result
        == .failed(
          reason: "cannot write opq-top-tiles-4711-20261121T120431.json: No space left on device"))
    #expect(try files == [])
  }

  @Test func interruptedAndShortWritesContinue() throws {
    var calls = 0
    let result = ExportFile.write(frame(count: 100), in: directory) { file, bytes in
      calls += 1
      if calls.isMultiple(of: 2) { return -Int(EINTR) }
      return Glibc.write(file, bytes.baseAddress, min(1_000, bytes.count))
    }
    guard case .written(100, let name) = result else {
      Issue.record("\(result)")
      return
    }
    let data = try Data(contentsOf: URL(fileURLWithPath: "\(directory)/\(name)"))
    #expect(try JSONDecoder().decode(BatchFrame.self, from: data).operations.count == 100)
  }

  @Test func aMissingDirectoryIsReported() {
    let result = ExportFile.write(frame(), in: "\(directory)/gone")
    #expect(
      result
        == .failed(
          reason: "cannot write opq-top-tiles-4711-20261121T120431.json: No such file or directory")
    )
  }
}
