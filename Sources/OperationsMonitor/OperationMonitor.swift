// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Glibc
public import Logging
import OperationsCore

/// Lets `opq-top` in another terminal watch this process's queues, and control them.
///
/// Off by default: a program calls ``listen(mode:logger:)``, or whoever starts it sets the environment
/// variable `OPQ_MONITOR` to `ro` or `rw`, which takes effect when the first queue is made. The sockets
/// are in a directory of the user's below `XDG_RUNTIME_DIR`, or in `/tmp`; `OPQ_SOCKET_DIRECTORY` names
/// another one, for the process and for those that watch it.
///
/// While nobody watches it costs one sleeping thread. Only processes of the same user and of root may
/// connect: the socket lies in a directory of the user's, and the system says who connects.
public enum OperationMonitor {
  /// What viewers may do.
  public enum Mode: String, Sendable, CaseIterable {
    /// See everything, and change nothing.
    case readOnly = "ro"
    /// Cancel operations, suspend and resume queues, and change widths and priorities, too.
    case readWrite = "rw"
  }

  private static let listener = Locked<Listener?>(nil)

  /// Begins to listen for viewers, in the directory that `OPQ_SOCKET_DIRECTORY` names, or else below
  /// `XDG_RUNTIME_DIR`, or in `/tmp`. Any thread; returns when they can connect. From then on the process
  /// ignores `SIGPIPE`, as swift-nio, by which the connections are made, needs it.
  ///
  /// Where the process already listens, the new mode holds for viewers that come from then on, and the
  /// rest stays what it was.
  ///
  /// - Parameters:
  ///   - mode: What viewers may do.
  ///   - logger: Is told, at the level `notice`, of each command with the id and the user of the process
  ///     that gave it, and, at `warning`, of viewers that are refused: of 100 and of 10 in a second at
  ///     most, and then of how many more there were. By default one called `opq`, which is made when it
  ///     is needed: a program may set up its logging afterwards.
  /// - Returns: The path of the socket, for `opq-top --socket`.
  /// - Throws: ``MonitorError`` where the socket cannot be made, or its directory is not to be trusted.
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
      // Whoever made it: another thread may just have.
      try current.waitUntilOpen()
    } catch {
      remove { $0 === current }?.stop()
      throw error
    }
    return current.path
  }

  /// The path of the socket while the process listens; `nil` otherwise, as in a child that it has
  /// forked. Any thread.
  public static var socketPath: String? {
    listener.withLock { $0 }.flatMap { Listener.isPossible ? $0.path : nil }
  }

  /// Listens no more: viewers are told that, and the socket is deleted. Any thread; returns when that
  /// is done, but for a handler of the logger that was given to ``listen(mode:logger:)``: where that
  /// calls it, viewers are told afterwards. Where the process does not listen it does nothing.
  public static func stopListening() { remove { _ in true }?.stop() }

  /// Takes out a listener, and its file with it: a moment later the path may be the next one's.
  private static func remove(where isMeant: (Listener) -> Bool) -> Listener? {
    listener.withLock { listener in
      guard let old = listener, isMeant(old) else { return nil }
      old.removeSocket()
      listener = nil
      return old
    }
  }

  /// A process that ends without ``stopListening()`` leaves no file, unless it crashes.
  private static let removeSocketAtExit: Void = {
    // In a child that was forked the lock may be held by a thread that is not there.
    atexit { if Listener.isPossible { _ = OperationMonitor.remove { _ in true } } }
  }()

  /// What the environment asks for.
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
      Logger(label: "opq").warning("nobody can attach: \(error)")
    }
  }
}

/// The library calls it by this name with the first queue, where this module is linked.
@c(opq_monitor_listen_if_asked)
func opq_monitor_listen_if_asked() { OperationMonitor.listenIfAsked() }
