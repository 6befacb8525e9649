// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import OperationsCommands

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

struct Sum: RemoteWork {
  let numbers: [Int]
  func run() -> Int { numbers.reduce(0, +) }
}

/// Returns facts about the other process: its id, that of its parent, and environment variables.
struct Facts: RemoteWork {
  struct Output: Codable, Sendable {
    let process: Int32
    let parent: Int32
    let variables: [String: String]
    let isOperationCurrent: Bool
  }

  let names: [String]

  func run() -> Output {
    var variables: [String: String] = [:]
    for name in names { variables[name] = getenv(name).map { String(cString: $0) } }
    return Output(
      process: getpid(), parent: getppid(), variables: variables,
      isOperationCurrent: Operation.current != nil && OperationQueue.current != nil)
  }
}

struct Refused: Error, CustomStringConvertible {
  var description: String { "it is refused" }
}

struct Throwing: RemoteWork {
  func run() throws -> Int { throw Refused() }
}

/// Writes lines and crashes.
struct Crashing: RemoteWork {
  let lineCount: Int

  func run() -> Int {
    for line in 1...lineCount { print("line \(line)") }
    fatalError("it is broken")
  }
}

/// Ends the process with an exit status.
struct Exiting: RemoteWork {
  let status: Int32

  func run() -> Int {
    print("leaving")
    exit(status)
  }
}

/// Has an output, and crashes while the process exits.
struct CrashingAtExit: RemoteWork {
  func run() -> Int {
    atexit { abort() }
    return 5
  }
}

/// Reports everything, and waits until a file exists.
struct Reporting: RemoteWork {
  let file: String

  func run() async throws -> Int {
    Operation.current?.appendLogLine("one\ntwo", level: .warning)
    Operation.current?.reportProgress(completed: 3, of: 10)
    Operation.current?.reportStatus("counting \\ slowly")
    while access(file, F_OK) != 0 { try await Task.sleep(for: .milliseconds(5)) }
    Operation.current?.reportProgress(completed: 10, of: 10)
    Operation.current?.appendLogLine("last")
    print("printed")
    return 10
  }
}

/// Works until it is cancelled, or until it receives SIGKILL.
struct Endless: RemoteWork {
  /// The file that the work creates when it has started. It contains the id of the process.
  let file: String
  /// Whether the work ignores that it is cancelled.
  let isStubborn: Bool
  /// Whether the cancelled work returns an output.
  let returns: Bool

  func run() async throws -> Int {
    if let stream = fopen("\(file).new", "w") {
      fputs("\(getpid())", stream)
      fclose(stream)
      rename("\(file).new", file)
    }
    while isStubborn || !Task.isCancelled { usleep(5_000) }
    if returns { return 1 }
    throw CancellationError()
  }
}

/// Returns bytes.
struct Big: RemoteWork {
  let byteCount: Int
  func run() -> [UInt8] { [UInt8](repeating: 7, count: byteCount) }
}

/// Crashes until it was started a number of times.
struct Flaky: RemoteWork {
  let file: String
  let attemptCount: Int

  func run() -> Int {
    guard let stream = fopen(file, "a+") else { return -1 }
    fputs("x", stream)
    let count = ftell(stream)
    fclose(stream)
    if count < attemptCount { abort() }
    return count
  }
}

/// Runs code on the main actor.
struct OnMainActor: RemoteWork {
  func run() async -> Bool { await Self.isOnMainActor() }

  @MainActor private static func isOnMainActor() -> Bool {
    MainActor.assumeIsolated { true }
  }
}

/// Cannot be decoded.
struct Undecodable: RemoteWork {
  init() {}
  init(from decoder: any Decoder) throws { throw Refused() }
  func encode(to encoder: any Encoder) throws {}
  func run() -> Int { 1 }
}

/// Has an output that cannot be encoded.
struct Unencodable: RemoteWork {
  struct Output: Codable, Sendable {
    init() {}
    func encode(to encoder: any Encoder) throws { throw Refused() }
  }

  func run() -> Output { Output() }
}

/// Runs work in a process of its own.
struct Outer: RemoteWork {
  func run() async throws -> Int {
    let inner = RemoteOperation(Sum(numbers: [20, 22]), on: .process)
    OperationQueue(name: "inner").addOperation(inner)
    return try await inner.value
  }
}

/// The name of this type that Swift reports contains an address of the process.
private struct Hidden: RemoteWork {
  func run() -> String { "hidden" }
}

/// The work of the type that only this file knows.
enum HiddenWork {
  static let type: any RemoteWork.Type = Hidden.self
  static func makeOperation() -> ResultOperation<String> {
    RemoteOperation(Hidden(), on: .process)
  }
}

/// Its type is not passed to `serveRemoteWork`.
struct Unserved: RemoteWork {
  func run() -> Int { 1 }
}
