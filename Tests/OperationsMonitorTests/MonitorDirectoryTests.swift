// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import MonitorTransport
@testable import OperationsMonitor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite struct MonitorDirectoryTests {
  private let runtime: TemporaryDirectory
  private let name = MonitorSocketName(processID: 4711, start: ProcessStart(ticks: 99))

  private static let requirement =
    "The monitor's sockets need a directory that only this user can access."

  init() throws { runtime = try TemporaryDirectory() }

  private var places: MonitorPlaces { MonitorPlaces(runtimePath: runtime.path) }

  private func mode(of path: String) -> mode_t {
    var facts = stat()
    return lstat(path, &facts) == 0 ? facts.st_mode & 0o7777 : 0
  }

  @Test("Only its owner can access the directory, for any file mode mask of the process")
  func isMadePrivate() throws {
    let directory = try MonitorDirectory.prepared(for: name, in: places)
    #expect(directory.path == runtime.file("opq"))
    #expect(mode(of: directory.path) == 0o700)
    #expect(try MonitorDirectory.prepared(for: name, in: places) == directory)
  }

  @Test("A directory with access for others is refused, and so is a directory of another user")
  func isNotTakenFromOthers() throws {
    let path = runtime.file("opq")
    mkdir(path, 0o700)
    for open in [mode_t(0o710), 0o701, 0o755, 0o777] {
      chmod(path, open)
      #expect(
        throws: MonitorDirectoryError("other users have access to \(path). \(Self.requirement)")
      ) {
        try MonitorDirectory.prepared(for: name, in: places)
      }
    }
    chmod(path, 0o700)
    // Only root can change the owner of the directory, so the rest of the test needs root.
    guard geteuid() == 0, chown(path, 65_534, 65_534) == 0 else { return }
    #expect(
      throws: MonitorDirectoryError("\(path) belongs to another user. \(Self.requirement)")
    ) {
      try MonitorDirectory.prepared(for: name, in: places)
    }
  }

  @Test("A link to a directory is refused, and so is a file: another user may have put it there")
  func isNoLink() throws {
    let path = runtime.file("opq")
    let refusal = MonitorDirectoryError("\(path) is not a directory. \(Self.requirement)")
    mkdir(runtime.file("elsewhere"), 0o700)
    symlink(runtime.file("elsewhere"), path)
    #expect(throws: refusal) {
      try MonitorDirectory.prepared(for: name, in: places)
    }
    unlink(path)
    close(open(path, O_CREAT | O_WRONLY, 0o600))
    #expect(throws: refusal) {
      try MonitorDirectory.prepared(for: name, in: places)
    }
  }

  @Test("With any file mode mask, the owner can read the directory, and the mask is unchanged")
  func isUsableUnderAnyMaskInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      for mask in [mode_t(0o777), 0o700, 0o077, 0o022, 0] {
        let runtime = try TemporaryDirectory()
        umask(mask)
        let socket = try MonitorSocket(in: MonitorPlaces(runtimePath: runtime.path))
        #expect(umask(0o022) == mask)
        var facts = stat()
        #expect(lstat(runtime.file("opq"), &facts) == 0)
        #expect(facts.st_mode == S_IFDIR | 0o700)
        #expect(lstat(socket.path, &facts) == 0)
        #expect(facts.st_mode == S_IFSOCK | 0o600)
        close(socket.descriptor)
      }
    }
  }

  @Test(
    "If the path would be too long for a socket, or is missing, the directory is in the shared place"
  )
  func fallsBack() throws {
    let usual = runtime.file("opq-\(geteuid())")
    let long = runtime.file(String(repeating: "x", count: 90))
    mkdir(long, 0o700)
    for unusable in [long, runtime.file("nowhere")] {
      let directory = try MonitorDirectory.prepared(
        for: name, in: MonitorPlaces(runtimePath: unusable, sharedPath: runtime.path))
      #expect(directory.path == usual)
    }
    #expect(mode(of: usual) == 0o700)
  }

  @Test(
    "Viewers search the directories in which a process may have its socket, even without a variable"
  )
  func candidates() {
    let own = MonitorDirectory.candidates(in: MonitorPlaces(runtimePath: "/somewhere")).map(\.path)
    #expect(own.prefix(2) == ["/somewhere/opq", "/tmp/opq-\(geteuid())"])
    let usual = "/run/user/\(geteuid())"
    #expect(MonitorDirectory.candidates(in: MonitorPlaces(runtimePath: usual)).count == 2)
    let other = MonitorDirectory.candidates(
      of: geteuid() + 1, in: MonitorPlaces(runtimePath: "/somewhere"))
    #expect(!other.map(\.path).contains("/somewhere/opq"))
  }

  @Test("If one directory is named for all sockets, no other one is made or searched")
  func onlyOne() throws {
    let only = MonitorPlaces(only: runtime.file("sockets"), runtimePath: runtime.path)
    #expect(MonitorDirectory.candidates(in: only).map(\.path) == [runtime.file("sockets")])
    #expect(
      try MonitorDirectory.prepared(for: name, in: only).path == runtime.file("sockets"))
    #expect(access(runtime.file("opq"), F_OK) != 0)
    let missing = MonitorPlaces(only: runtime.file("no/sockets"), sharedPath: runtime.path)
    #expect(throws: MonitorDirectoryError.self) {
      try MonitorDirectory.prepared(for: name, in: missing)
    }
  }

  @Test("The name of a socket contains the process and its start, and no other name is accepted")
  func names() throws {
    #expect(name.fileName == "4711-99.sock")
    #expect(MonitorSocketName(fileName: "4711-99.sock") == name)
    #expect(MonitorSocketName(fileName: name.temporaryFileName) == name)
    for other in ["", "4711.sock", "4711-99", "-1-99.sock", "0-99.sock", "a-b.sock", "1-2-3.sock"] {
      #expect(MonitorSocketName(fileName: other) == nil, "\(other)")
    }
    let own = try #require(ProcessStart(of: getpid()))
    #expect(MonitorSocketName(processID: getpid(), start: own).isAlive)
    #expect(!MonitorSocketName(processID: getpid(), start: ProcessStart(ticks: 1)).isAlive)
    #expect(!MonitorSocketName(processID: .max, start: own).isAlive)
  }
}
