// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// A program for the tests of commands under a low limit of file descriptors. It is a separate program, because the limit
// applies to the whole process.
//
//   fixture-commands many COUNT     runs this number of commands at once under a limit of 256 descriptors
//   fixture-commands shortage       runs a command while too few descriptors are free, and one after that
//   fixture-commands leak COUNT     runs this number of commands. Every tenth command cannot be started. Prints how many
//                                   more descriptors are open after the commands than before them.
//   fixture-commands waiting        cancels a command that waits for descriptors, and lets another one start
//   fixture-commands shim BASE TEXT runs a shell text by a shim with files whose paths begin with BASE
//   fixture-commands shims COUNT BASE
//                                   runs this number of shims at once under a limit of 256 descriptors. Prints how many
//                                   more descriptors are open after them than after the first ones.
//   fixture-commands ending BASE    lets a shim end while no descriptor is free
//   fixture-commands cancelling BASE
//                                   cancels the command of a shim while no descriptor is free

import Operations
import OperationsCommands
import TestSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

func setLimit(_ count: rlim_t) {
  var limit = rlimit(rlim_cur: count, rlim_max: count)
  #if canImport(Glibc)
    let resource = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
  #else
    let resource = RLIMIT_NOFILE
  #endif
  precondition(setrlimit(resource, &limit) == 0, "The limit cannot be set.")
}

/// Runs commands at once, and prints how many succeeded and the greatest number of threads.
func runMany(_ count: Int) async {
  setLimit(256)
  let queue = OperationQueue(name: "commands", maxConcurrentOperationCount: count)
  let threadCounts = Monitored<[Int]>([])
  let operations = (1...count).map { number in
    var command = Command(shell: "echo \(number); sleep 0.1; echo end")
    command.output = .lines { line in
      if line == "end" { threadCounts.change { $0.append(ProcessStatus.amount("Threads")) } }
    }
    return CommandOperation(command)
  }
  queue.addOperations(operations)
  await queue.waitUntilAllOperationsAreFinished()
  let failures = operations.compactMap(\.error)
  for failure in failures.prefix(3) { print(failure) }
  print("\(count - failures.count) succeeded")
  print("\(threadCounts.value.max() ?? 0) threads")
}

func runInShortage() async {
  setLimit(64)
  var open: [Int32] = []
  while case let descriptor = dup(0), descriptor >= 0 { open.append(descriptor) }
  // Swift's own threads need a few descriptors when they begin.
  for descriptor in open.suffix(20) { close(descriptor) }
  open.removeLast(20)
  let queue = OperationQueue(name: "commands")
  for _ in 1...2 {
    let operation = CommandOperation(Command("true"))
    queue.addOperation(operation)
    do {
      _ = try await operation.value
      print("succeeded")
    } catch {
      print(error)
    }
    for descriptor in open { close(descriptor) }
    open = []
  }
}

/// Runs a command for which just enough descriptors are free, and two commands that wait for it.
func runWaiting() async throws {
  setLimit(64)
  let queue = OperationQueue(name: "commands", maxConcurrentOperationCount: 3)
  let first = CommandOperation(Command("true"))
  queue.addOperation(first)
  _ = try await first.value
  var open: [Int32] = []
  while case let descriptor = dup(0), descriptor >= 0 { open.append(descriptor) }
  for descriptor in open.suffix(27) { close(descriptor) }
  let hasStarted = Monitored(false)
  var command = Command(shell: "echo; exec sleep 1000")
  command.output = .lines { _ in hasStarted.change { $0 = true } }
  let running = CommandOperation(command)
  queue.addOperation(running)
  while !hasStarted.value { await Task.yield() }
  let waiting = [CommandOperation(Command("true")), CommandOperation(Command("true"))]
  queue.addOperations(waiting)
  while !waiting.allSatisfy(\.isExecuting) { await Task.yield() }
  waiting[0].cancel()
  await waiting[0].waitUntilFinished()
  if case .failure(let error)? = waiting[0].result {
    print("cancelled: \(error is CancellationError)")
  }
  print("waits: \(waiting[1].isExecuting && running.isExecuting)")
  running.cancel()
  _ = try await waiting[1].value
  print("succeeded")
}

/// Returns the number of open descriptors, without those that a thread of a system library has open for a moment.
func openDescriptorCount() -> Int {
  var least = Int.max
  for _ in 0..<10 {
    guard let directory = opendir("/proc/self/fd") else { return -1 }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    closedir(directory)
    least = min(least, count)
    usleep(1_000)
  }
  return least
}

func runManyShort(_ count: Int) async {
  let queue = OperationQueue(name: "commands", maxConcurrentOperationCount: 8)
  var before = 0
  // The first commands start the threads that watch all commands, which keep some descriptors.
  for count in [50, count] {
    before = openDescriptorCount()
    let operations = (0..<count).map { number in
      CommandOperation(Command(number % 10 == 0 ? "opq-no-such-program" : "true"))
    }
    queue.addOperations(operations)
    await queue.waitUntilAllOperationsAreFinished()
    if count > 50 { print("\(operations.filter { $0.error == nil }.count) succeeded") }
  }
  print("\(openDescriptorCount() - before) descriptors more")
}

func makeShim(_ base: String, _ text: String) throws -> ShimOperation {
  ShimOperation(
    Command("sh"), shell: "/bin/sh", text: text, files: ShimFiles(base: base),
    programs: try ShimPrograms.find()
  ) {}
}

func runShim(_ base: String, _ text: String) async throws {
  let operation = try makeShim(base, text)
  OperationQueue(name: "commands").addOperation(operation)
  _ = try await operation.value
}

func runManyShims(_ count: Int, _ base: String) async throws {
  setLimit(256)
  let queue = OperationQueue(name: "commands", maxConcurrentOperationCount: count)
  var before = 0
  // The first shims start the threads that watch all commands, which keep some descriptors.
  for (name, count) in [("first", 50), ("next", count)] {
    before = openDescriptorCount()
    let operations = try (0..<count).map { try makeShim("\(base)-\(name)-\($0)", "sleep 0.1") }
    queue.addOperations(operations)
    await queue.waitUntilAllOperationsAreFinished()
    if name == "next" { print("\(operations.filter { $0.error == nil }.count) succeeded") }
  }
  print("\(openDescriptorCount() - before) descriptors more")
}

/// Starts a shim, and uses all descriptors when its command runs.
///
/// - Returns: The operation, and the used descriptors.
func startInShortage(_ base: String, _ text: String) async throws -> (ShimOperation, [Int32]) {
  setLimit(64)
  // The first shim starts the threads that watch all commands, which keep some descriptors. So does a timer.
  try await runShim("\(base)-first", "sleep 0.5")
  Task { try await Task.sleep(for: .seconds(3600)) }
  let operation = try makeShim(base, "echo ready; \(text)")
  OperationQueue(name: "commands").addOperation(operation)
  // The operation reads who its command is before it reports the line.
  while operation.reportedStatus != "ready" { usleep(1_000) }
  var open: [Int32] = []
  while case let descriptor = dup(0), descriptor >= 0 { open.append(descriptor) }
  return (operation, open)
}

func endInShortage(_ base: String) async throws {
  let (operation, open) = try await startInShortage(
    base, "until [ -d '\(base).go' ]; do sleep 0.01; done; exit 7")
  mkdir("\(base).go", 0o700)
  while access("\(base).status", F_OK) != 0 { usleep(1_000) }
  usleep(500_000)
  print("waits: \(operation.isExecuting)")
  for descriptor in open { close(descriptor) }
  await operation.waitUntilFinished()
  if let error = operation.error as? CommandError { print("exit status \(error.exitStatus ?? -1)") }
}

func cancelInShortage(_ base: String) async throws {
  let (operation, open) = try await startInShortage(
    base, "trap 'mkdir \(base).asked; exit 0' TERM; while :; do sleep 0.01; done")
  operation.cancel()
  while access("\(base).asked", F_OK) != 0, operation.isExecuting { usleep(1_000) }
  print("asked: \(access("\(base).asked", F_OK) == 0)")
  await operation.waitUntilFinished()
  if case .failure(let error)? = operation.result {
    print("cancelled: \(error is CancellationError)")
  }
  for descriptor in open { close(descriptor) }
}

switch CommandLine.arguments.dropFirst().first {
case "many": await runMany(Int(CommandLine.arguments.last ?? "") ?? 1)
case "shortage": await runInShortage()
case "leak": await runManyShort(Int(CommandLine.arguments.last ?? "") ?? 1)
case "waiting": try await runWaiting()
case "shim": try await runShim(CommandLine.arguments[2], CommandLine.arguments[3])
case "shims":
  try await runManyShims(Int(CommandLine.arguments[2]) ?? 1, CommandLine.arguments[3])
case "ending": try await endInShortage(CommandLine.arguments[2])
case "cancelling": try await cancelInShortage(CommandLine.arguments[2])
default:
  print(
    "usage: fixture-commands many | shortage | leak | waiting | shim | shims | ending | cancelling …"
  )
}
