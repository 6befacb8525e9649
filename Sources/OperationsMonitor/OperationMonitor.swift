// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Glibc
public import Logging
import OperationsCore

/// The monitor of this process: with it `opq-top` in another terminal can watch the process's queues, and
/// control them.
///
/// The monitor is off by default. To turn it on, the program calls ``listen(mode:logger:)``, or it is started
/// with the environment variable `OPQ_MONITOR` set to `ro` or `rw`, which takes effect when the first queue
/// is made. The sockets are in a directory of the user below `XDG_RUNTIME_DIR`, or in `/tmp`.
/// `OPQ_SOCKET_DIRECTORY` names another directory, for the process and for its viewers.
///
/// While no viewer is connected, the monitor costs one sleeping thread. Only processes of the same user and
/// of root may connect: the socket lies in a directory of the user, and the system reports the user of each
/// connection.
public enum OperationMonitor {
  /// The permissions of viewers.
  public enum Mode: String, Sendable, CaseIterable {
    /// See everything, and change nothing.
    case readOnly = "ro"
    /// Cancel operations, suspend and resume queues, and change widths and priorities, too.
    case readWrite = "rw"
  }

  private static let listener = Locked<Listener?>(nil)

  /// Begins to listen for viewers, in the directory that `OPQ_SOCKET_DIRECTORY` names, or else below
  /// `XDG_RUNTIME_DIR`, or in `/tmp`. It may be called on any thread, and returns when viewers can connect.
  /// From then on the process ignores `SIGPIPE`, as swift-nio requires, which makes the connections.
  ///
  /// If the process already listens, the new mode applies to viewers that connect from then on, and nothing
  /// else changes.
  ///
  /// - Parameters:
  ///   - mode: The permissions of viewers.
  ///   - logger: Logs each command at the level `notice`, with the id and the user of the process that sent
  ///     it, and refused viewers at `warning`. It logs at most 100 commands and 10 refusals in a second, and
  ///     then the number of omitted lines. By default a logger named `opq` is used. It is made when it is
  ///     needed, so that a program may configure its logging afterwards.
  /// - Returns: The path of the socket, for `opq-top --socket`.
  /// - Throws: ``MonitorError`` if the socket cannot be made, or if its directory cannot be trusted.
  @discardableResult
  public static func listen(
    mode: Mode = .readOnly, logger: Logger? = nil
  ) throws(MonitorError) -> String {
    let (current, isNew) = try listener.withLock { listener throws(MonitorError) in
      if let existing = listener, Listener.isPossible { return (existing, false) }
      let new = try Listener(mode: mode, logger: logger)
      listener = new
      return (new, true)
    }
    if isNew { removeSocketAtExit } else { current.guests.mode = mode }
    do {
      // Another thread may have created the listener just before, so this call also waits.
      try current.waitUntilOpen()
    } catch {
      remove { $0 === current }?.stop()
      throw error
    }
    return current.path
  }

  /// The path of the socket while the process listens; `nil` otherwise, and in a forked child. It may be read
  /// on any thread.
  public static var socketPath: String? {
    listener.withLock { $0 }.flatMap { Listener.isPossible ? $0.path : nil }
  }

  /// Stops listening: each viewer receives a farewell, and the socket is deleted. It may be called on any
  /// thread, and returns when this is done. If a handler of the logger that was given to
  /// ``listen(mode:logger:)`` calls it, viewers receive the farewell after it returns. If the process does
  /// not listen, it does nothing.
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

  /// Deletes the socket's file at exit. Therefore a process that ends without ``stopListening()``
  /// leaves no file, unless it crashes.
  private static let removeSocketAtExit: Void = {
    // In a forked child, nothing is done: a thread that does not exist there may hold the lock.
    atexit { if Listener.isPossible { _ = OperationMonitor.remove { _ in true } } }
  }()

  /// Listens if the environment variable asks for it.
  fileprivate static func listenIfAsked() {
    guard let value = csystem_secure_environment("OPQ_MONITOR") else { return }
    let text = String(cString: value)
    guard !text.isEmpty else { return }
    do {
      guard let mode = Mode(rawValue: text) else {
        throw MonitorError("OPQ_MONITOR is neither ro nor rw")
      }
      try listen(mode: mode)
    } catch {
      Logger(label: "opq").warning("viewers cannot attach: \(error)")
    }
  }
}

/// Begins to listen if the environment variable `OPQ_MONITOR` is set to `ro` or `rw`. If a program
/// links this module, the operations library calls this function by its name when the program
/// creates its first queue.
@c(opq_monitor_listen_if_asked)
func opq_monitor_listen_if_asked() { OperationMonitor.listenIfAsked() }
