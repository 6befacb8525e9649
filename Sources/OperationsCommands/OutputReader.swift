// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import OperationsCore

/// Reads the pipe of a command until all processes have closed it, or until `noteEnd()` is called.
final class OutputReader: Sendable {
  /// What was read.
  struct Outcome: Sendable {
    var collected: [UInt8] = []
    var isCut = false
  }

  /// The maximum number of bytes that are read after the end of the command. A process that the command has left behind
  /// may write without end.
  private static let mostBytesAfterEnd = 1 << 20

  private struct State {
    var isOpen = true
    var outcome = Outcome()
  }

  private let pipe: Int32
  private let firstSink: OutputSink
  private let watch: DescriptorWatch
  private let state = Locked(State())

  /// Creates a reader, which closes the pipe.
  init(_ pipe: Int32, _ sink: OutputSink) {
    self.pipe = pipe
    firstSink = sink
    watch = DescriptorWatch(pipe)
  }

  /// The result of `read()`, after it has returned.
  var outcome: Outcome { state.withLock { $0.outcome } }

  /// Reads everything, and closes the pipe. Called at most once.
  func read() async {
    var sink = firstSink
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    var countAfterEnd = 0
    while true {
      // The flag is read before the pipe: what the command had written before its end is read after it.
      let hasEnded = watch.hasEnded
      let count = csystem_read_pipe(pipe, &bytes, bytes.count)
      if count > 0 {
        sink.take(bytes[..<count])
        if hasEnded { countAfterEnd += count }
        if countAfterEnd >= Self.mostBytesAfterEnd { break }
      } else if count == -1, !hasEnded {
        await watch.wait()
      } else {
        break
      }
    }
    close()
    sink.end()
    let outcome = Outcome(collected: sink.collected, isCut: sink.isCut)
    state.withLock { $0.outcome = outcome }
  }

  /// Closes the pipe, unless it is closed.
  func close() {
    let wasOpen = state.withLock { state in
      defer { state.isOpen = false }
      return state.isOpen
    }
    if wasOpen { csystem_close(pipe) }
  }

  /// The command has ended: the reader reads what the pipe contains, and waits for nothing more.
  func noteEnd() { watch.end() }
}
