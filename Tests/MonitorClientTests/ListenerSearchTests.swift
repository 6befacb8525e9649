// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import MonitorProtocol
import TestSupport
import Testing

@testable import MonitorClient
@testable import MonitorTransport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("The search for the processes of a command") struct ListenerSearchTests {
  private static let viewer = LaunchingViewer(processID: 7, start: ProcessStart(ticks: 8))

  private func environment(_ entries: [String], isReadOnly: Bool = false) -> [String] {
    ListenerSearch.environment(
      entries.map { Array($0.utf8) }, viewer: Self.viewer, isReadOnly: isReadOnly
    ).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("The command's environment turns the monitor on and names the viewer")
  func addsVariables() {
    #expect(environment(["A=1"]) == ["A=1", "OPQ_VIEWER=7-8", "OPQ_MONITOR=rw"])
    #expect(environment([], isReadOnly: true) == ["OPQ_VIEWER=7-8", "OPQ_MONITOR=ro"])
  }

  @Test("A valid mode of the user does not change, and an invalid one is replaced")
  func keepsMode() {
    #expect(environment(["OPQ_MONITOR=ro"]) == ["OPQ_MONITOR=ro", "OPQ_VIEWER=7-8"])
    #expect(environment(["OPQ_MONITOR=yes", "B"]) == ["B", "OPQ_VIEWER=7-8", "OPQ_MONITOR=rw"])
  }

  @Test("The entry of an outer viewer is replaced")
  func replacesOuterViewer() {
    #expect(environment(["OPQ_VIEWER=1-2"]) == ["OPQ_VIEWER=7-8", "OPQ_MONITOR=rw"])
  }

  @Test("Bytes that are not valid UTF-8 stay in the environment")
  func keepsBytes() {
    let entry: [UInt8] = [0x41, 0x3D, 0xFF]
    #expect(
      ListenerSearch.environment([entry], viewer: Self.viewer, isReadOnly: false).first == entry)
  }

  /// Starts a process with an environment, and creates a file with the name of its socket. Calls a closure with the
  /// path of the file and a search in its directory, and then ends the process.
  private func withProcess(
    _ environment: [String: String], _ body: (String, inout ListenerSearch) throws -> Void
  ) throws {
    let directory = try TemporaryDirectory()
    #expect(chmod(directory.path, 0o700) == 0)
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sleep")
    process.arguments = ["600"]
    process.environment = environment
    try process.run()
    defer {
      // Threads of the tests block SIGTERM, and the process inherits that.
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    let start = try #require(ProcessStart(of: process.processIdentifier))
    let name = MonitorSocketName(processID: process.processIdentifier, start: start)
    let path = directory.file(name.fileName)
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
    // The process has its environment when it runs its program.
    #expect(
      poll(for: .seconds(60)) {
        let id = process.processIdentifier
        let line = try? String(contentsOfFile: "/proc/\(id)/cmdline", encoding: .utf8)
        return line?.contains("600") == true
          && ProcessEnvironment.entries(of: id)?.count == environment.count
      })
    var search = ListenerSearch(
      viewer: Self.viewer, in: MonitorPlaces(only: directory.path, runtimePath: nil))
    try withExtendedLifetime(directory) { try body(path, &search) }
  }

  @Test("A process with the viewer's variable is found once, and once more after it was forgotten")
  func findsProcess() throws {
    try withProcess(["OPQ_VIEWER": "7-8"]) { path, search in
      #expect(search.findNew() == [path])
      #expect(search.findNew() == [])
      search.forget(path)
      #expect(search.findNew() == [path])
    }
  }

  @Test(
    "A process without the viewer's variable is not found, although it listens",
    arguments: [[:], ["OPQ_VIEWER": "7-9"], ["OPQ_VIEWERS": "7-8"]])
  func ignoresOtherProcesses(environment: [String: String]) throws {
    try withProcess(environment) { path, search in #expect(search.findNew() == []) }
  }

  @Test("A process that exists and does not listen yet is not released, an ended process is")
  func release() throws {
    var ended = ""
    try withProcess([:]) { path, _ in
      #expect(!ListenerSearch.release(path))
      ended = path
    }
    #expect(ListenerSearch.release(ended))
  }
}
