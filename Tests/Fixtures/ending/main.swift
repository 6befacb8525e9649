// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// A watched process that runs a short batch of operations and then ends. The batch begins when a viewer
// watches the process. The first argument is the end:
//
//   fixture-ending main          `main` returns
//   fixture-ending operation     an operation calls `exit`
//   fixture-ending observer      an observer of an operation calls `exit`
//   fixture-ending cancel        an operation's `cancel()` calls `exit` when a viewer cancels the operation
//   fixture-ending stop          the process stops listening, and ends when it receives SIGUSR1
//   fixture-ending completion    `main` returns while completion blocks wait
//   fixture-ending abort         `main` calls `abort()` when the process receives SIGUSR1
//   fixture-ending signal        `main` returns when the process receives SIGUSR1
//   fixture-ending causes        `main` returns when the process receives SIGUSR1; before, a failed operation has
//                                cancelled another one through a third one
//   fixture-ending retry         a retry fails twice, and its third attempt succeeds when the process receives
//                                SIGUSR1; then `main` returns
//   fixture-ending log           an operation logs lines, one of them with escape sequences; it logs another line
//                                and finishes when the process receives SIGUSR1; then `main` returns
//   fixture-ending exec          the process executes this program again, as `executed FOREIGN-SOCKET…`

import Dispatch
import Logging
import Operations
import OperationsMonitor
import TestSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// An operation that ends the process when a viewer cancels it.
final class ExitingAtCancel: Operation, @unchecked Sendable {
  override func cancel() { exit(3) }
}

/// The error of an attempt that fails.
struct FailedAttempt: Error, CustomStringConvertible {
  let number: Int

  var description: String { "attempt \(number) timed out" }
}

/// The number of the batch's operations, without the last one, which depends on all others.
let batchCount = 100

func names(in path: String) -> [String] {
  guard let directory = opendir(path) else { return [] }
  defer { closedir(directory) }
  var names: [String] = []
  while let entry = readdir(directory) {
    names.append(
      withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      })
  }
  return names.filter { !$0.hasPrefix(".") }
}

func contents(of path: String) -> String {
  guard let file = fopen(path, "r") else { return "" }
  defer { fclose(file) }
  var bytes = [UInt8](repeating: 0, count: 256)
  let count = fread(&bytes, 1, bytes.count, file)
  return String(decoding: bytes.prefix(count), as: UTF8.self)
}

/// The targets of the open descriptors that are sockets.
func socketDescriptors() -> [String] {
  names(in: "/proc/self/fd").compactMap { name in
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = readlink("/proc/self/fd/\(name)", &bytes, bytes.count)
    let target = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    return target.hasPrefix("socket:") ? target : nil
  }
}

func waitForSignal() {
  var signals = sigset_t()
  sigemptyset(&signals)
  sigaddset(&signals, SIGUSR1)
  var number: Int32 = 0
  sigwait(&signals, &number)
}

var signals = sigset_t()
sigemptyset(&signals)
sigaddset(&signals, SIGUSR1)
pthread_sigmask(SIG_BLOCK, &signals, nil)

let end = CommandLine.arguments.dropFirst().first ?? "main"
let inherited = socketDescriptors()
if end == "executed" {
  // The sockets that the replaced program had inherited are not its own.
  let foreign = CommandLine.arguments.dropFirst(2)
  print("descriptors: \(inherited.filter { !foreign.contains($0) })")
}
let path = try OperationMonitor.listen(mode: .readWrite)
print("listening at \(path)")
fflush(nil)
// The collector's thread runs while a viewer watches the process.
let isWatched = poll(for: .seconds(Patience.seconds)) {
  names(in: "/proc/self/task").contains {
    contents(of: "/proc/self/task/\($0)/comm").hasPrefix("opq-collector")
  }
}
precondition(isWatched, "no viewer watches the process")

let queue = OperationQueue()
queue.name = "batch"
queue.maxConcurrentOperationCount = 4
let operations = (0..<batchCount).map { _ in BlockOperation {} }
let last = BlockOperation()
last.name = "last"
for operation in operations { last.addDependency(operation) }
let isBlocked = DispatchSemaphore(value: 0)
switch end {
case "operation": last.addExecutionBlock { exit(3) }
case "completion":
  for operation in operations { operation.completionBlock = { isBlocked.wait() } }
default: break
}
queue.addOperations(operations + [last], waitUntilFinished: end != "operation")
switch end {
case "operation": while true { pause() }
case "observer":
  let observed = Operation()
  let observation = observed.observe(\.isFinished, options: []) { _, _ in exit(3) }
  withExtendedLifetime(observation) { queue.addOperation(observed) }
  while true { pause() }
case "cancel":
  let blocked = ExitingAtCancel()
  blocked.name = "exiting"
  queue.isSuspended = true
  queue.addOperation(blocked)
  print("blocked: \(blocked.id.rawValue)")
  fflush(nil)
  while true { pause() }
case "retry":
  let (stream, gate) = AsyncStream.makeStream(of: Void.self)
  let retry = RetryOperation(maximumAttempts: 5) { number in
    let attempt = AsyncOperation<Int> {
      if number < 3 { throw FailedAttempt(number: number) }
      for await _ in stream {}
      return number
    }
    attempt.name = "attempt \(number) of the page"
    return attempt
  }
  retry.name = "page"
  retry.kind = "download"
  queue.addOperation(retry)
  print("retry: \(retry.id.rawValue)")
  fflush(nil)
  waitForSignal()
  gate.finish()
  queue.waitUntilAllOperationsAreFinished()
case "log":
  let logger = Logger(label: "fixture") { label in
    OperationLogHandler(wrapping: StreamLogHandler.standardError(label: label))
  }
  let isSignalled = DispatchSemaphore(value: 0)
  let logging = BlockOperation {
    for number in 1...60 { logger.info("page \(number)", metadata: ["host": "tiles"]) }
    logger.warning("title \u{1B}]0;evil\u{7}\u{1B}[2J \u{9B}31m end")
    isBlocked.signal()
    isSignalled.wait()
    logger.error("last line")
  }
  logging.name = "logging"
  queue.addOperation(logging)
  isBlocked.wait()
  print("logging: \(logging.id.rawValue)")
  fflush(nil)
  waitForSignal()
  isSignalled.signal()
  queue.waitUntilAllOperationsAreFinished()
case "stop":
  OperationMonitor.stopListening()
  print("stopped")
  fflush(nil)
  waitForSignal()
case "abort":
  waitForSignal()
  abort()
case "signal": waitForSignal()
case "causes":
  let bad = InvocationOperation<Int> { throw OperationTimeoutError(limit: .seconds(2)) }
  bad.name = "bad"
  let through = BlockOperation {}
  through.addDependency(bad, requires: .success)
  let cancelled = BlockOperation {}
  cancelled.addDependency(through, requires: .success)
  queue.addOperations([cancelled, through, bad], waitUntilFinished: true)
  print(
    "bad \(bad.id.rawValue), through \(through.id.rawValue), cancelled \(cancelled.id.rawValue)")
  fflush(nil)
  waitForSignal()
case "exec":
  var words = ([CommandLine.arguments[0], "executed"] + inherited).map { strdup($0) } + [nil]
  execv("/proc/self/exe", &words)
default: break
}
