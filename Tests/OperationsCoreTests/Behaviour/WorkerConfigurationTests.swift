// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import OperationsCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("The configuration of the pool")
struct WorkerConfigurationTests {
  private static let fixture = FixtureProgram.shared

  @Test("MX-11: with an affinity mask of one processor one operation executes at a time")
  func affinityInOwnProcess() throws {
    let (ending, output) = try Self.fixture.run(
      "workers", "width", by: ["/usr/bin/taskset", "-c", "0"])
    #expect(ending == .status(0) && output == "1 at the same time", "\(output)")
  }

  @Test("MX-12: the environment sets the number of processors")
  func environmentInOwnProcess() throws {
    let (_, one) = try Self.fixture.run("workers", "width", environment: ["OPQ_PROCESSORS=1"])
    #expect(one == "1 at the same time")
    let (_, limited) = try Self.fixture.run(
      "workers", "width", environment: ["OPQ_PROCESSORS=3", "OPQ_THREADS=1"])
    #expect(limited == "1 at the same time")
  }

  @Test("MX-12: the environment limits the threads of all queues, for any widths")
  func threadLimitInOwnProcess() throws {
    let (_, limited) = try Self.fixture.run("workers", "blocked", environment: ["OPQ_THREADS=3"])
    #expect(limited.hasSuffix("3 at the same time"), "\(limited)")
    let (_, unlimited) = try Self.fixture.run("workers", "blocked")
    #expect(unlimited == "20 at the same time")
  }

  @Test("MX-12: one sentence is printed for each invalid variable, and the default is used")
  func invalidEnvironmentInOwnProcess() throws {
    let (ending, output) = try Self.fixture.run(
      "workers", "width", by: ["/usr/bin/taskset", "-c", "0"],
      environment: ["OPQ_PROCESSORS=many", "OPQ_THREADS=0", "OPQ_STACK_SIZE=65536"])
    #expect(ending == .status(0))
    #expect(
      output.split(separator: "\n") == [
        "Operations: OPQ_PROCESSORS is “many”, which is not a whole number from 1 to 4096: it is "
          + "ignored.",
        "Operations: OPQ_THREADS is “0”, which is not a whole number from 1 to 32768: it is ignored.",
        "1 at the same time",
      ], "\(output)")
  }

  @Test("MX-12: the program sets the configuration before its first queue, and not after it")
  func programInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let log = EventLog<OperationDiagnostic.Kind>()
      OperationDiagnostic.handler = { log.note($0.kind) }
      setenv("OPQ_PROCESSORS", "7", 1)
      setenv("OPQ_THREADS", "77", 1)
      let size = 32 << 20
      WorkerConfiguration.current = WorkerConfiguration(processorCount: 1, stackSize: size)
      #expect(WorkerConfiguration.current.processorCount == 1)
      #expect(WorkerConfiguration.current.threadLimit == nil && log.events.isEmpty)
      try await onOwnThread {
        // The block uses more bytes of the stack than the system's default size has.
        let deep = BlockOperation { #expect(descend(24 << 20, from: nil)) }
        OperationQueue().addOperations([deep], waitUntilFinished: true)
      }
      let inForce = WorkerConfiguration(processorCount: 1, threadLimit: 77, stackSize: size)
      #expect(WorkerConfiguration.current == inForce && log.events.isEmpty)
      WorkerConfiguration.current = WorkerConfiguration()
      #expect(WorkerConfiguration.current == inForce)
      #expect(log.events == [.workerConfigurationIsFixed])
    }
  }

  @Test("MX-12: a value outside its range is reported, and the default is used")
  func invalidValueInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let log = EventLog<OperationDiagnostic>()
      OperationDiagnostic.handler = { log.note($0) }
      for value in [Int.min, -1, 0, Int.max] {
        WorkerConfiguration.current = WorkerConfiguration(
          processorCount: value, threadLimit: value, stackSize: value)
        #expect(WorkerConfiguration.current == WorkerConfiguration())
      }
      #expect(log.events.count == 12)
      #expect(log.events.allSatisfy { $0.kind == .invalidWorkerConfiguration })
      #expect(
        log.events.last?.description
          == "stackSize of WorkerConfiguration is \(Int.max), which is not in the range 65536 to 1073741824; "
          + "the default is used.")
      WorkerConfiguration.current.threadLimit = 5
      #expect(WorkerConfiguration.current == WorkerConfiguration(threadLimit: 5))
    }
  }

  @Test("MX-12: the program's values have precedence over the environment, and that over defaults")
  func order() {
    let variables = ["OPQ_PROCESSORS": "3", "OPQ_STACK_SIZE": "+65536", "OPQ_THREADS": ""]
    func resolve(_ configuration: WorkerConfiguration) -> (WorkerPoolConfiguration, [String]) {
      WorkerPoolConfiguration.resolve(
        configuration, environment: { variables[$0] }, availableProcessors: { 16 })
    }
    let (fromEnvironment, faults) = resolve(WorkerConfiguration())
    #expect(fromEnvironment == WorkerPoolConfiguration(processorCount: 3, stackSize: 65_536))
    #expect(faults.count == 1 && faults[0].hasPrefix("OPQ_THREADS is “”, which is not"))
    let (fromProgram, _) = resolve(
      WorkerConfiguration(processorCount: 9, threadLimit: 4, stackSize: 131_072))
    #expect(fromProgram.processorCount == 4, "no more than there may be threads")
    #expect(fromProgram.threadLimit == 4 && fromProgram.stackSize == 131_072)
    let (defaults, none) = WorkerPoolConfiguration.resolve(
      WorkerConfiguration(), environment: { _ in nil }, availableProcessors: { 16 })
    #expect(defaults == WorkerPoolConfiguration(processorCount: 16) && none.isEmpty)
  }
}

/// Uses a number of bytes of the stack below `top`. The process crashes if the stack is too small.
@inline(never)
private func descend(_ byteCount: UInt, from top: UInt?) -> Bool {
  var local: UInt8 = 0
  let address = withUnsafeMutablePointer(to: &local) { UInt(bitPattern: $0) }
  let top = top ?? address
  return top - address >= byteCount || descend(byteCount, from: top) && local == 0
}
