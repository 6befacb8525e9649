// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// A batch tool. It reads 2,000 small files, and computes a hash of each file, transforms it and writes the
// result. At the end, it writes an index of all results. Some files are missing, the place for the results is
// sometimes busy, and the transformation of one file takes too long. Ctrl-C ends the tool in an orderly way.
//
// The argument is the number of milliseconds that each reading takes; 0 by default. With 20, there is enough
// time to watch the tool:
//
//   opq-top record --wait <process id> --output batch.opqrec

import Dispatch
import FoundationEssentials
import Operations
import OperationsMonitor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

let pause = Duration.milliseconds(CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 0)
let folders = try Folders(fileCount: 2_000)
defer { folders.remove() }

do {
  try OperationMonitor.listen(mode: .readWrite)
} catch {
  print("Viewers cannot attach: \(error)")
}

let batch = Batch(folders: folders, pause: pause)

// Ctrl-C must not end the process at once. The Dispatch source receives the signal instead.
signal(SIGINT, SIG_IGN)
let interrupt = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
interrupt.setEventHandler { @Sendable [batch] in batch.cancel() }
interrupt.resume()

batch.start()
await batch.waitUntilFinished()
print(batch.summary)

if batch.isInterrupted {
  // The program ends by the signal, because the shell then knows that the user has pressed Ctrl-C. Such an
  // end neither flushes the output nor notifies viewers.
  folders.remove()
  OperationMonitor.stopListening()
  fflush(nil)
  signal(SIGINT, SIG_DFL)
  // This thread may block the signal. Another thread would receive it too late, after the program has ended.
  var signals = sigset_t()
  sigemptyset(&signals)
  sigaddset(&signals, SIGINT)
  pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  raise(SIGINT)
}
