// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Glibc
public import Logging
import OperationsCore
import Synchronization

/// Lets `opq-top` in another terminal watch this process's queues, and control them.
///
/// Off by default: a program calls ``listen(mode:logger:)``, or whoever starts it sets the environment
/// variable `OPQ_MONITOR` to `ro` or `rw`, which takes effect when the first queue is made.
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
  /// One at a time listens or stops, which is done outside the lock above.
  private static let turn = Mutex(())

  /// Begins to listen for viewers. Any thread; returns when they can connect. From then on the process
  /// ignores `SIGPIPE`, as swift-nio, by which the connections are made, needs it.
  ///
  /// Where the process already listens, the new mode holds for viewers that come from then on, and the
  /// rest stays what it was.
  ///
  /// - Parameters:
  ///   - mode: What viewers may do.
  ///   - logger: Is told, at the level `notice`, of each command with the id and the user of the process
  ///     that gave it, and, at `warning`, of viewers that are refused; by default one called `opq`.
  /// - Returns: The path of the socket, for `opq-top --socket`.
  /// - Throws: ``MonitorError`` where the socket cannot be made, or its directory is not to be trusted.
  @discardableResult
  public static func listen(
    mode: Mode = .readOnly, logger: Logger = Logger(label: "opq")
  ) throws(MonitorError) -> String {
    try turn.withLock { _ throws(MonitorError) in
      if let existing = listener.withLock({ $0 }) {
        existing.guests.mode = mode
        return existing.path
      }
      let new = try Listener(mode: mode, logger: logger)
      listener.withLock { $0 = new }
      removeSocketAtExit
      return new.path
    }
  }

  /// The path of the socket while the process listens; `nil` otherwise. Any thread.
  public static var socketPath: String? { listener.withLock { $0?.path } }

  /// Listens no more: viewers are told that, and the socket is deleted. Any thread; returns when that
  /// is done. Where the process does not listen it does nothing.
  public static func stopListening() {
    turn.withLock { _ in
      let old = listener.withLock { $0.take() }
      old?.stop()
    }
  }

  private static let removeSocketAtExit: Void = {
    atexit { OperationMonitor.removeSocket() }
  }()

  /// A process that ends without ``stopListening()`` leaves no file, unless it crashes.
  private static func removeSocket() { listener.withLock { $0 }?.removeSocket() }

  /// What the environment asks for.
  fileprivate static func listenIfAsked() {
    guard let value = csystem_secure_environment("OPQ_MONITOR") else { return }
    let logger = Logger(label: "opq")
    let text = String(cString: value)
    guard let mode = Mode(rawValue: text) else {
      if !text.isEmpty { logger.warning("OPQ_MONITOR is neither ro nor rw: nobody can attach") }
      return
    }
    do {
      try listen(mode: mode, logger: logger)
    } catch {
      logger.warning("nobody can attach: \(error)")
    }
  }
}

/// The library calls it by this name with the first queue, where this module is linked.
@c(opq_monitor_listen_if_asked)
func opq_monitor_listen_if_asked() { OperationMonitor.listenIfAsked() }
