// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("Signals in the threads of the pool")
struct WorkerSignalTests {
  @Test(
    "H-13: a handler is called for a signal that an operation causes, and for a profiler's timer",
    arguments: [SIGSEGV, SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSYS, SIGPROF])
  func handlerInOwnProcess(number: Int32) async {
    await #expect(processExitsWith: .exitCode(40)) { [number] in
      signal(number) { _ in _exit(40) }
      // The signal is sent to the calling thread, like the signal of a processor exception.
      let operation = BlockOperation { pthread_kill(pthread_self(), number) }
      onThreads(1) { _ in
        OperationQueue().addOperations([operation], waitUntilFinished: true)
      }
      _exit(41)
    }
  }

  @Test("H-13: a handler is called when an operation reads a bad address")
  func badAddressInOwnProcess() async {
    await #expect(processExitsWith: .exitCode(40)) {
      signal(SIGSEGV) { _ in _exit(40) }
      onThreads(1) { _ in
        let read = BlockOperation {
          _exit(UnsafePointer<UInt8>(bitPattern: 8).map { Int32($0.pointee) } ?? 41)
        }
        OperationQueue().addOperations([read], waitUntilFinished: true)
      }
      _exit(42)
    }
  }

  @Test("Signals for the process are handled by the program's own threads")
  func otherSignals() async throws {
    try await onOwnThread {
      let reachable = Monitored<[Int32]?>(nil)
      let look = BlockOperation {
        var blocked = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &blocked)
        let numbers = [SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD, SIGALRM, SIGWINCH, SIGPIPE]
        reachable.change { $0 = numbers.filter { sigismember(&blocked, $0) != 1 } }
      }
      OperationQueue().addOperations([look], waitUntilFinished: true)
      #expect(reachable.value == [])
    }
  }

  @Test(
    "H-13: Swift's backtracer prints the frames of an operation that crashes",
    .enabled("Swift's backtracer cannot read a process here, as without ptrace") {
      try Self.backtrace(of: "crash-main").contains("readBadAddress")
    }, .timeLimit(.minutes(5)))
  func backtraceInOwnProcess() throws {
    let printed = try Self.backtrace(of: "crash")
    #expect(printed.contains("readBadAddress"), "\(printed)")
    #expect(printed.contains("opq-"), "The thread of the pool is named: \(printed)")
  }

  /// Makes the fixture program crash, and returns the output of the Swift backtracer.
  private static func backtrace(of mode: String) throws -> String {
    let directory = try TemporaryDirectory()
    let file = directory.file("crash.log")
    let settings =
      "enable=yes,interactive=no,color=no,symbolicate=fast,timeout=60s,output-to=\(file)"
    _ = try FixtureProgram.shared.run(
      "workers", mode, environment: ["SWIFT_BACKTRACE=\(settings)"])
    return contents(of: file)
  }

  private static func contents(of path: String) -> String {
    guard let file = fopen(path, "r") else { return "" }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    while case let byte = getc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
