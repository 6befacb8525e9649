// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import COperationsSystem
public import Logging
import MonitorProtocol
import MonitorTransport
import OperationsCollector
import OperationsCore

/// The monitor of this process. With the monitor, `opq-top` in another terminal can watch and
/// control the queues of this process.
///
/// The monitor is off by default. To turn it on, call ``listen(mode:logger:)``, or set the
/// environment variable `OPQ_MONITOR` to `ro` or `rw` when you start the program. The variable
/// takes effect when the program creates its first queue. The sockets of processes are in a
/// directory of the user below `XDG_RUNTIME_DIR`, or in `/tmp`. If the environment variable
/// `OPQ_SOCKET_DIRECTORY` is set, the process and its viewers use the directory that it names.
///
/// A process that `opq-top -- COMMAND` has started has the environment variable `OPQ_VIEWER`, which names the
/// viewer. When the program creates its first queue, it waits until this viewer receives all changes, but for two
/// seconds at most. It does not wait for a viewer that no longer exists.
///
/// If the environment variable `OPQ_RECORD` is set, the process records itself to the file that it names, from its
/// first queue to its exit, and needs no viewer. In the name, the process id replaces `%p`. The file must not exist.
/// Only its owner can read it. If the process cannot record, or can no longer record, one warning is logged with
/// the label `opq`, and the program continues. The environment variables have no effect in a program with more
/// privileges than the user that started it.
///
/// While no viewer is connected, the monitor costs one sleeping thread. Only processes of the same
/// user and of root can connect. The socket is in a directory to which only the user has access,
/// and the monitor checks the user of each connection.
public enum OperationMonitor {
  /// The permissions of viewers.
  public enum Mode: String, Sendable, CaseIterable {
    /// Viewers can watch everything, and change nothing.
    case readOnly = "ro"
    /// Viewers can watch everything, cancel operations, suspend and resume queues, and change
    /// widths and priorities.
    case readWrite = "rw"
  }

  private static let listener = Locked<Listener?>(nil)
  private static let recording = Locked<OwnRecording?>(nil)
  private static let firstQueueGate = FirstQueueGate()
  private static let controllers = ControllerCount()
  /// The viewer that has started this process; `nil` if there is none.
  private static let awaitedViewer = LaunchingViewer.ofEnvironment.map { AwaitedViewer($0) }

  /// Begins to listen for viewers. The socket is in the directory that `OPQ_SOCKET_DIRECTORY`
  /// names, or else below `XDG_RUNTIME_DIR` or in `/tmp`. The method can be called on any thread,
  /// and returns when viewers can connect. From then on, the process ignores `SIGPIPE`, because
  /// swift-nio, which serves the connections, requires it.
  ///
  /// If the process already listens, the new mode applies to viewers that connect later, and
  /// nothing else changes.
  ///
  /// - Parameters:
  ///   - mode: The permissions of viewers.
  ///   - logger: The logger for the actions of viewers. Commands are logged at the level `notice`,
  ///     with the id and the user of the process that sent the command. Refused viewers are logged
  ///     at the level `warning`. At most 100 commands and 10 refusals per second are logged, and
  ///     then the number of omitted lines. The default is a logger with the label `opq`. It is
  ///     created when it is needed, so that a program can configure its logging later.
  /// - Returns: The path of the socket, for `opq-top --socket`.
  /// - Throws: ``MonitorError`` if the socket cannot be created, or if its directory cannot be
  ///   trusted.
  @discardableResult
  public static func listen(
    mode: Mode = .readOnly, logger: Logger? = nil
  ) throws(MonitorError) -> String {
    let (current, isNew) = try listener.withLock { listener throws(MonitorError) in
      if let existing = listener, Listener.isPossible { return (existing, false) }
      let new = try Listener(
        mode: mode, logger: logger, awaitedViewer: awaitedViewer, controllers: controllers)
      listener = new
      return (new, true)
    }
    if isNew { stopAtExit } else { current.guests.mode = mode }
    do {
      // Another thread may have created the listener a moment ago, so this call of `listen` also
      // waits until viewers can connect.
      try current.waitUntilOpen()
    } catch {
      remove { $0 === current }?.stop()
      throw error
    }
    return current.path
  }

  /// The path of the socket; `nil` if the process does not listen, or is a fork of a listening
  /// process. The property can be read on any thread.
  public static var socketPath: String? {
    listener.withLock { $0 }.flatMap { Listener.isPossible ? $0.path : nil }
  }

  /// Returns a sequence of the present number of attached viewers that may send commands, and of each
  /// later number. A viewer is attached when it has requested data. A viewer that has declared in its
  /// greeting that it sends no commands does not count. Programs that list processes do not count, and
  /// recordings do not count. The sequence never ends, not even when the process stops listening.
  package static func controllerCounts() -> AsyncStream<Int> { controllers.counts() }

  /// Stops listening. Each viewer receives a last update with everything up to this call, and then
  /// a farewell message. The socket is deleted.
  ///
  /// The method can be called on any thread. It returns when everything is sent, but after a second
  /// at the latest: a viewer that does not read is disconnected without the rest. If a handler of
  /// the logger of ``listen(mode:logger:)`` calls the method, everything is sent after it returns.
  /// If an operation's `cancel()` calls the method because a viewer cancels the operation, viewers
  /// receive no last update. If the process does not listen, the method does nothing.
  ///
  /// A process that ends by `exit`, or because `main` returns, stops listening in the same way. A
  /// process that crashes, is killed or calls `_exit` sends nothing, and viewers show how old
  /// their last update is.
  ///
  /// In a child that was forked from a listening process, the method closes the child's copy of the
  /// socket. The parent continues to listen.
  public static func stopListening() { remove { _ in true }?.stop() }

  /// Removes a listener and deletes its socket's file under the same lock. Otherwise the file could
  /// already belong to the next listener.
  private static func remove(where isMeant: (Listener) -> Bool) -> Listener? {
    listener.withLock { listener in
      guard let old = listener, isMeant(old) else { return nil }
      old.removeSocket()
      listener = nil
      return old
    }
  }

  /// Stops listening at exit. Therefore viewers receive everything up to that moment, and a process
  /// that ends without ``stopListening()`` leaves no file, unless it crashes.
  private static let stopAtExit: Void = {
    // In a forked child, nothing is done: a thread that does not exist there may hold the lock.
    cmonitor_at_exit {
      if Listener.isPossible { OperationMonitor.remove { _ in true }?.stop(atExit: true) }
    }
  }()

  /// Does what the environment variables request, before the first queue exists. If the process listens, it waits
  /// for the viewer that has started it. If another thread already does this, waits for that thread.
  ///
  /// - Returns: Whether the monitor is ready, as `csystem_offer_monitor()` returns it.
  fileprivate static func prepare() -> Bool {
    // The thread of the connections and the collector's thread serve the viewer, so they must not wait for it.
    let mayWait = {
      let isServing = listener.withLock { $0 } != nil && Listener.isOnThread
      return !isServing && !MonitorSession.isOnCollectorThread
    }
    return firstQueueGate.pass(patience: AwaitedViewer.patience, mayWait: mayWait) {
      recordIfAsked()
      listenIfAsked()
      if let awaitedViewer, socketPath != nil, mayWait() { awaitedViewer.wait() }
    }
  }

  /// Begins to record if the environment variable `OPQ_RECORD` is set.
  private static func recordIfAsked() {
    guard let value = csystem_secure_environment("OPQ_RECORD"), value.pointee != 0 else { return }
    do throws(FileError) {
      let new = try OwnRecording(into: OwnRecording.path(for: String(cString: value)))
      recording.withLock { $0 = new }
      cmonitor_at_exit { OperationMonitor.recording.withLock { $0 }?.finish() }
    } catch {
      Logger(label: "opq").warning("this process is not recorded: \("\(error)".inLog)")
    }
  }

  /// Whether the environment variable `OPQ_MONITOR` decides whether this process listens.
  package static var isDecidedByEnvironment: Bool {
    csystem_secure_environment("OPQ_MONITOR") != nil
  }

  /// Begins to listen if the environment variable `OPQ_MONITOR` is set to `ro` or `rw`.
  private static func listenIfAsked() {
    guard let value = csystem_secure_environment("OPQ_MONITOR") else { return }
    let text = String(cString: value)
    guard !text.isEmpty else { return }
    do {
      guard let mode = Mode(rawValue: text) else {
        throw MonitorError("OPQ_MONITOR is neither ro nor rw")
      }
      try listen(mode: mode)
    } catch {
      Logger(label: "opq").warning("viewers cannot attach: \("\(error)".inLog)")
    }
  }
}

/// Does what the environment variables request: records, listens, and waits for the viewer that has
/// started this process. If a program links this module, the operations library calls this function
/// by its name when the program creates its first queue.
@c(opq_monitor_prepare)
func opq_monitor_prepare() -> Bool { OperationMonitor.prepare() }
