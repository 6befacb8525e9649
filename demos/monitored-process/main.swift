// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// A service that can be watched and controlled from another terminal, because it calls
// `OperationMonitor.listen`. It builds map tiles until it receives SIGTERM or SIGINT. With the argument
// `once` it builds the tiles of one picture and ends.

import DemoWorkloads
import Dispatch
import OperationsMonitor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// The signals SIGTERM and SIGINT must not end the process at once. Dispatch sources receive them on any
// thread.
signal(SIGTERM, SIG_IGN)
signal(SIGINT, SIG_IGN)

do {
  // After this call, viewers can attach. If the environment contains OPQ_MONITOR=ro or OPQ_MONITOR=rw,
  // viewers can attach without the call.
  let path = try OperationMonitor.listen(mode: .readWrite)
  print("Process \(getpid()) builds tiles. Watch it in another terminal:")
  print("  opq-top attach \(getpid())")
  print("or through ssh, with its socket forwarded:")
  print("  opq-top --socket \(path)")
  fflush(nil)
} catch {
  // The work continues if no viewer can attach.
  print("It builds tiles, but viewers cannot attach: \(error)")
}

let isOnce = CommandLine.arguments.dropFirst().first == "once"
let workload = try Demo.tiles.makeWorkload(WorkloadOptions(isOnce: isOnce, isInteractive: false))
let end = DispatchSemaphore(value: 0)
let sources = [SIGTERM, SIGINT].map { signal in
  let source = DispatchSource.makeSignalSource(signal: signal, queue: .global())
  source.setEventHandler { @Sendable in end.signal() }
  source.resume()
  return source
}
workload.whenFinished { end.signal() }
workload.start()
end.wait()
sources.forEach { $0.cancel() }
workload.shutDown()
OperationMonitor.stopListening()
