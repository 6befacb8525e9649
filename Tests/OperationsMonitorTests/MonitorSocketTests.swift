// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
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

@Suite struct MonitorSocketTests {
  private let runtime: TemporaryDirectory

  init() throws { runtime = try TemporaryDirectory() }

  private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  @Test("The socket is its owner's alone, closed on exec, and the only file in its directory")
  func isPrivate() throws {
    let socket = try MonitorSocket(in: MonitorPlaces(runtimePath: runtime.path))
    defer { close(socket.descriptor) }
    var facts = stat()
    #expect(lstat(socket.path, &facts) == 0)
    #expect(facts.st_mode == S_IFSOCK | 0o600)
    #expect(fcntl(socket.descriptor, F_GETFD) & FD_CLOEXEC != 0)
    let directory = MonitorDirectory(path: runtime.file("opq"))
    #expect(directory.fileNames.map { directory.path(of: $0) } == [socket.path])
    #expect(cmonitor_is_listening_at(socket.path))
    socket.remove()
    #expect(directory.fileNames.isEmpty)
  }

  @Test(
    "Files of processes that have ended are deleted, unless a process still listens there")
  func removesStale() throws {
    let directory = MonitorDirectory(path: runtime.file("opq"))
    mkdir(directory.path, 0o700)
    // No process can have an id of 2,000,000,000 or more, because the kernel's limit is lower.
    let stale = directory.path(of: "2000000000-1.sock")
    close(cmonitor_listen_at(stale, 1))
    let unfinished = directory.path(of: "2000000000-1.new")
    close(cmonitor_listen_at(unfinished, 1))
    let living = directory.path(of: "2000000001-1.sock")
    let listener = cmonitor_listen_at(living, 1)
    defer { close(listener) }
    let foreign = directory.path(of: "notes.txt")
    close(open(foreign, O_CREAT | O_WRONLY, 0o600))
    #expect([stale, unfinished, living, foreign].allSatisfy { exists($0) })

    let socket = try MonitorSocket(in: MonitorPlaces(runtimePath: runtime.path))
    defer { close(socket.descriptor) }
    #expect(!exists(stale) && !exists(unfinished))
    #expect(exists(living) && exists(foreign) && exists(socket.path))
  }

  @Test("A directory in which nothing can be made is reported in a sentence with its path")
  func cannotListen() throws {
    let path = runtime.file("opq")
    symlink("/", path)
    let error = #expect(throws: MonitorError.self) {
      try MonitorSocket(in: MonitorPlaces(runtimePath: runtime.path))
    }
    #expect(error?.description.contains(path) == true)
  }
}
