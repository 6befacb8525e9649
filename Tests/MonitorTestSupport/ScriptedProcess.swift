// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import MonitorProtocol
import Synchronization
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// An imaginary process to which viewers can attach. It sends exactly the given messages, including messages
/// that a real process would never send.
///
/// The functions that wait use `poll` with a deadline, and never sleep.
package final class ScriptedProcess: Sendable {
  /// The path of the socket on which the process listens.
  package var path: String { listener.path }
  private let listener: LocalListener

  package init() throws { listener = try LocalListener() }

  /// Returns the greeting of the process. The greeting names another machine, so that viewers do
  /// not search for the process on this machine.
  package static func hello(startTicks: UInt64 = 5) -> Hello {
    var hello = Hello(
      processName: "fake", processID: 4_711, isReadOnly: false,
      anchor: MonitorTime(nanoseconds: 1_000_000_000_000),
      anchorSecondsSince1970: 1_795_305_600, processStarted: MonitorTime(nanoseconds: 0))
    hello.bootID = "another machine"
    hello.startTicks = startTicks
    return hello
  }

  /// The update of the process: a queue with one executing operation.
  package static var update: Update {
    let time = MonitorTime(nanoseconds: 1_000_000_000_000)
    let operation = OperationReport(
      id: .init(42), name: "one job", className: "Job", queue: .init(1), state: .executing,
      started: time)
    let queue = QueueReport(
      id: .init(1), name: "work", counts: StateCounts(executing: 1, total: 1), width: 2)
    return Update(time: time, queues: [queue], changed: [operation], matchCount: 1, keptCount: 1)
  }

  /// Waits until a viewer connects.
  package func accept() throws -> Viewer {
    var entry = pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0)
    try #require(poll(&entry, 1, 60_000) == 1, "no viewer has connected")
    let connection = listener.accept()
    try #require(connection >= 0)
    return Viewer(connection)
  }

  /// Waits until a viewer connects, and sends it a greeting and an update.
  package func welcome(_ hello: Hello = ScriptedProcess.hello()) throws -> Viewer {
    let viewer = try accept()
    viewer.send(.hello(hello, versions: .current))
    try #require(viewer.receive { if case .watch = $0 { true } else { false } } != nil)
    viewer.send(ScriptedProcess.update)
    return viewer
  }

  /// The connection of a viewer.
  package final class Viewer: Sendable {
    private struct State {
      var buffer = FrameBuffer()
      var isClosed = false
    }

    private let connection: Int32
    private let state = Mutex(State())

    package init(_ connection: Int32) { self.connection = connection }

    deinit { close() }

    /// Ends the connection.
    package func close() {
      let isFirst = state.withLock { state in
        defer { state.isClosed = true }
        return !state.isClosed
      }
      if isFirst { Glibc.close(connection) }
    }

    /// Sends a message.
    package func send(_ message: ProcessMessage) { send(frames: [message.encoded()]) }

    /// Sends an update.
    package func send(_ update: Update) { send(frames: Array(UpdateParts(update))) }

    /// Sends encoded messages in a single write.
    package func send(frames: [[UInt8]]) {
      LocalListener.write(frames.flatMap(LocalListener.frame), to: connection)
    }

    /// Waits for a message of the viewer that satisfies the predicate; `nil` if the viewer
    /// disconnects without such a message.
    package func receive(where isWanted: (ViewerMessage) -> Bool) -> ViewerMessage? {
      while true {
        while let frame = state.withLock({ $0.buffer.takeFrame() }) {
          guard let message = try? ViewerMessage(decoding: frame) else { return nil }
          if isWanted(message) { return message }
        }
        var entry = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, 60_000) == 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = read(connection, &bytes, bytes.count)
        guard count > 0 else { return nil }
        let received = bytes[..<count]
        state.withLock { $0.buffer.append(received) }
      }
    }
  }
}
