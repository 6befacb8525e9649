// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// A program for the tests of commands that a viewer starts, and of processes that record themselves. It does not
// call the monitor: only environment variables turn it on. It runs a batch of short operations without a wait, prints
// a line, and then does what its first argument says:
//
//   fixture-launched exit STATUS     exits with this status
//   fixture-launched die SIGNAL      ends by this signal
//   fixture-launched wait            waits for a signal; exits with 0 after SIGUSR1, with 10 + N after the signal N
//   fixture-launched grow FILE       waits until this recording has the batch, runs further operations with long
//                                    names, and prints a second line
//   fixture-launched fork            forks a child that exits at once, and runs a second batch
//   fixture-launched read            prints what it reads from standard input
//   fixture-launched threads         runs the batch on queues that four threads create at the same time

import Dispatch
import Operations
import OperationsMonitor
import TestSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The number of operations of a batch.
let batchCount = 50

func runBatch(_ prefix: String, on queue: OperationQueue, count: Int = batchCount) {
  let operations = (1...count).map { number in
    let operation = BlockOperation {}
    operation.name = "\(prefix) \(number)"
    return operation
  }
  queue.addOperations(operations, waitUntilFinished: true)
}

/// Creates a queue. Each queue is released after its batch, as in a program that creates it in a function.
func makeQueue(_ name: String) -> OperationQueue {
  let queue = OperationQueue()
  queue.name = name
  return queue
}

/// Returns whether a file contains a text.
func contains(_ path: String, _ text: String) -> Bool {
  guard let file = fopen(path, "r") else { return false }
  defer { fclose(file) }
  var bytes = [UInt8](repeating: 0, count: 1 << 16)
  let count = fread(&bytes, 1, bytes.count, file)
  return String(decoding: bytes[..<count], as: UTF8.self).contains(text)
}

func say(_ text: String) {
  print(text)
  fflush(nil)
}

var signals = sigset_t()
sigemptyset(&signals)
let arguments = Array(CommandLine.arguments.dropFirst())
let end = arguments.first ?? "exit"
let number = arguments.dropFirst().first.flatMap { Int32($0) } ?? 0
if end == "wait" {
  for signal in [SIGUSR1, SIGTERM, SIGINT, SIGHUP, SIGQUIT] { sigaddset(&signals, signal) }
  pthread_sigmask(SIG_BLOCK, &signals, nil)
}
if end == "threads" {
  onThreads(4) { thread in
    runBatch("operation", on: makeQueue("batch \(thread)"), count: 10)
  }
} else {
  runBatch("operation", on: makeQueue("batch"))
}
say("the batch has finished")

switch end {
case "die":
  var limit = rlimit()
  setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
  signal(number, SIG_DFL)
  kill(getpid(), number)
case "wait":
  var received: Int32 = 0
  sigwait(&signals, &received)
  exit(received == SIGUSR1 ? 0 : 10 + received)
case "grow":
  let isRecorded = poll(for: .seconds(Patience.seconds)) {
    contains(arguments[1], "operation \(batchCount)")
  }
  precondition(isRecorded, "the batch is not in the recording")
  let queue = makeQueue("growing")
  for round in 1...20 { runBatch(String(repeating: "x", count: 400) + " \(round)", on: queue) }
  say("the program has finished")
case "fork":
  // The module `Glibc` does not declare `fork`.
  let fork = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)
  let child = fork()
  if child == 0 { exit(0) }
  waitpid(child, nil, 0)
  runBatch("after the fork", on: makeQueue("second batch"))
case "read":
  while let line = readLine() { say("read: \(line)") }
default: exit(number)
}
