// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import MonitorProtocol

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("A file of output") struct OutputFileTests {
  @Test("A write beyond the size limit throws an error, and the signal for it does not arrive")
  func sizeLimitInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
      var usual = rlimit()
      getrlimit(resource, &usual)
      signal(SIGXFSZ, SIG_DFL)
      // The threads of the tests block signals, and the main thread of a program does not.
      var sizeSignal = sigset_t()
      sigemptyset(&sizeSignal)
      sigaddset(&sizeSignal, SIGXFSZ)
      pthread_sigmask(SIG_UNBLOCK, &sizeSignal, nil)
      var file = try OutputFile(creating: directory.file("a"), replaces: false)
      var limit = rlimit(rlim_cur: 1_000, rlim_max: usual.rlim_max)
      setrlimit(resource, &limit)
      try file.append([UInt8](repeating: 1, count: 900))
      var error: FileError?
      do throws(FileError) {
        try file.append([UInt8](repeating: 2, count: 200))
      } catch let failure {
        error = failure
      }
      // The test itself writes its results to a file.
      setrlimit(resource, &usual)
      #expect(error?.description.hasSuffix("File too large") == true)
      // The part that did fit is removed.
      var facts = stat()
      #expect(stat(directory.file("a"), &facts) == 0 && facts.st_size == 900)
      var blocked = sigset_t()
      pthread_sigmask(SIG_BLOCK, nil, &blocked)
      #expect(sigismember(&blocked, SIGXFSZ) == 0)
    }
  }

  @Test("Before a file is created, an existing file and a directory without access are detected")
  func checks() throws {
    let directory = try TemporaryDirectory()
    try OutputFile.checkCreatable(directory.file("new"), replaces: false)
    #expect(creat(directory.file("old"), 0o600) >= 0)
    try OutputFile.checkCreatable(directory.file("old"), replaces: true)
    let error = #expect(throws: FileError.self) {
      try OutputFile.checkCreatable(directory.file("old"), replaces: false)
    }
    #expect(error?.isAboutExistingFile == true)
    #expect(throws: FileError.self) {
      try OutputFile.checkCreatable(directory.file("none/a"), replaces: false)
    }
  }
}
