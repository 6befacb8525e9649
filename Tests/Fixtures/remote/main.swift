// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// A program for the tests of work in another process. It is a separate program, because the other process has the same
// executable, and runs the work before anything else.
//
//   fixture-remote NAME [ARGUMENT…]   runs the work with this name, and prints its result
//
// If the environment variable OPQ_FIXTURE_ASYNC is set, the program calls the asynchronous `serveRemoteWork`. If
// OPQ_FIXTURE_SLURM is set to a directory, the work runs on a Slurm cluster with this directory.

import Dispatch
import Operations
import OperationsCommands
import TestSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

let usualPlace: RemotePlace = {
  guard let directory = getenv("OPQ_FIXTURE_SLURM") else { return .process }
  return .slurm(
    SlurmCluster(directory: String(cString: directory), pollInterval: .seconds(1)))
}()
let queue = OperationQueue(name: "remote", maxConcurrentOperationCount: 4)

/// Prints the result of an operation.
func show<Output>(_ operation: ResultOperation<Output>) async {
  queue.addOperation(operation)
  await operation.waitUntilFinished()
  switch operation.result {
  case .success(let output)?: print(output)
  case .failure(let error as RemoteError)?:
    print("\(error.code): \(error)")
    if error.code == .signal { print(error.lastLines.joined(separator: "; ")) }
  case .failure(let error)?: print("\(type(of: error)): \(error)")
  case nil: print("no result")
  }
}

func waitForFile(_ path: String) {
  _ = poll(for: .seconds(30), pausing: true) { access(path, F_OK) == 0 }
}

func showReports(_ file: String) async {
  let operation = RemoteOperation(Reporting(file: file), on: usualPlace)
  queue.addOperation(operation)
  _ = poll(for: .seconds(30), pausing: true) { operation.reportedProgress != nil }
  let (completed, total) = operation.reportedProgress ?? (0, 0)
  print("\(completed) of \(total), \(operation.reportedStatus ?? "")")
  if let stream = fopen(file, "w") { fclose(stream) }
  await operation.waitUntilFinished()
  print("\(operation.reportedProgress?.completed ?? 0)")
  let lines = OperationLogStore.shared.lines(of: .operations([operation.id]), in: 1...UInt64.max)
  // Log lines and output have no order between them.
  print(lines.flatMap(\.lines).map { "\($0.level) \($0.text)" }.sorted())
}

/// Cancels a work that has started.
func showCancellation(_ arguments: [String]) async {
  let work = Endless(
    file: arguments[0], isStubborn: arguments.contains("stubborn"),
    returns: arguments.contains("returns"))
  var place = usualPlace
  place.gracePeriod = work.isStubborn ? .milliseconds(50) : .seconds(60)
  let operation = RemoteOperation(work, on: place)
  queue.addOperation(operation)
  waitForFile(arguments[0])
  operation.cancel()
  await operation.waitUntilFinished()
  print(operation.isCancelled, operation.result.map { "\($0)" } ?? "no result")
}

/// A clock that ends a sleep only when a file exists.
struct ClockOfFile: Clock {
  let file: String
  var now: ContinuousClock.Instant { .now }
  var minimumResolution: Duration { .nanoseconds(1) }

  func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
    while access(file, F_OK) != 0 { try await Task.sleep(for: .milliseconds(5)) }
    try await ContinuousClock().sleep(until: deadline, tolerance: tolerance)
  }
}

/// Runs work whose time limit ends after it has started.
func showTimeout(_ file: String) async {
  await show(
    TimeoutOperation(after: .milliseconds(200), clock: ClockOfFile(file: file)) {
      RemoteOperation(Endless(file: file, isStubborn: false, returns: true), on: usualPlace)
    })
}

/// Starts a work, and ends this process.
func endWithWork(_ file: String) async {
  queue.addOperation(
    RemoteOperation(Endless(file: file, isStubborn: true, returns: false), on: usualPlace))
  waitForFile(file)
  kill(getpid(), SIGKILL)
}

/// Runs a large work, and prints whether the output is right.
func showBig(_ byteCount: Int) async {
  let operation = RemoteOperation(Big(byteCount: byteCount), on: usualPlace)
  queue.addOperation(operation)
  do {
    let bytes = try await operation.value
    print(bytes.count == byteCount && bytes.first == 7 && bytes.last == 7)
  } catch {
    print(error)
  }
}

/// Starts a work with a program that waits before it executes this program, and ends this process during the wait.
func endBeforeWork(_ program: String, _ file: String, waiting: String) async {
  var place = usualPlace
  place.executable = program
  queue.addOperation(
    RemoteOperation(Endless(file: file, isStubborn: true, returns: false), on: place))
  waitForFile(waiting)
  kill(getpid(), SIGKILL)
}

func runOtherExecutable(_ path: String) async {
  var place = usualPlace
  place.executable = path
  await show(RemoteOperation(Sum(numbers: [1, 2]), on: place))
}

func runInDirectory(_ path: String) async {
  var place = usualPlace
  place.directory = path
  await show(RemoteOperation(Sum(numbers: [1, 2]), on: place))
}

func showFacts(_ names: [String]) async throws {
  var place = usualPlace
  place.environment["OPQ_FIXTURE_SET"] = "set"
  let operation = RemoteOperation(Facts(names: names), on: place)
  queue.addOperation(operation)
  let facts = try await operation.value
  print(facts.process != getpid(), facts.parent == getpid(), facts.isOperationCurrent)
  for (name, value) in facts.variables.sorted(by: { $0.key < $1.key }) { print("\(name)=\(value)") }
}

func runWork(_ name: String, _ arguments: [String]) async throws {
  switch name {
  case "sum": await show(RemoteOperation(Sum(numbers: [1, 2, 39]), on: usualPlace))
  case "sums":
    let operations = (1...20).map { RemoteOperation(Sum(numbers: [$0, $0]), on: usualPlace) }
    queue.addOperations(operations)
    var sum = 0
    for operation in operations { sum += try await operation.value }
    print(sum)
  case "facts": try await showFacts(arguments)
  case "throwing": await show(RemoteOperation(Throwing(), on: usualPlace))
  case "crashing": await show(RemoteOperation(Crashing(lineCount: 12), on: usualPlace))
  case "exiting":
    await show(RemoteOperation(Exiting(status: Int32(arguments[0]) ?? 0), on: usualPlace))
  case "crashing-at-exit": await show(RemoteOperation(CrashingAtExit(), on: usualPlace))
  case "reporting": await showReports(arguments[0])
  case "cancelling": await showCancellation(arguments)
  case "timeout": await showTimeout(arguments[0])
  case "retry":
    await show(
      RetryOperation(maximumAttempts: 5) { _ in
        RemoteOperation(Flaky(file: arguments[0], attemptCount: 3), on: usualPlace)
      })
  case "orphan": await endWithWork(arguments[0])
  case "late-orphan": await endBeforeWork(arguments[0], arguments[1], waiting: arguments[2])
  case "big": await showBig(Int(arguments[0]) ?? 0)
  case "executable": await runOtherExecutable(arguments[0])
  case "deleted":
    unlink(CommandLine.arguments[0])
    await show(RemoteOperation(Sum(numbers: [1, 2]), on: usualPlace))
  case "main-actor": await show(RemoteOperation(OnMainActor(), on: usualPlace))
  case "undecodable": await show(RemoteOperation(Undecodable(), on: usualPlace))
  case "unencodable": await show(RemoteOperation(Unencodable(), on: usualPlace))
  case "outer": await show(RemoteOperation(Outer(), on: usualPlace))
  case "hidden": await show(HiddenWork.makeOperation())
  case "unserved": await show(RemoteOperation(Unserved(), on: usualPlace))
  case "directory": await runInDirectory(arguments[0])
  default: print("usage: fixture-remote NAME [ARGUMENT…]")
  }
}

func runProgram() async {
  do {
    let arguments = CommandLine.arguments.dropFirst()
    try await runWork(arguments.first ?? "", Array(arguments.dropFirst()))
  } catch {
    print(error)
  }
  exit(0)
}

if getenv("OPQ_FIXTURE_ASYNC") != nil {
  Task {
    await serveRemoteWork(of: Sum.self, OnMainActor.self)
    await runProgram()
  }
} else {
  serveRemoteWork(
    Sum.self, Facts.self, Throwing.self, Crashing.self, CrashingAtExit.self, Exiting.self,
    Reporting.self, Endless.self,
    Big.self, Flaky.self, OnMainActor.self, Undecodable.self, Unencodable.self, Outer.self,
    HiddenWork.type)
  Task { await runProgram() }
}
dispatchMain()
