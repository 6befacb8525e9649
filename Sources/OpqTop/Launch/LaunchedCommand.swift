// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import CursesTerminal
import Dispatch
import MonitorProtocol
import Synchronization

/// A command that this program starts. All members can be used on any thread.
final class LaunchedCommand: Sendable {
  /// The relation of a command to the terminal.
  enum Place {
    /// The command is in a session without a terminal, because the dashboard uses the terminal. It reads nothing.
    case ownSession
    /// The command is in the group of processes of this program and shares its standard input.
    case ownGroup
  }

  /// The exit status if the program does not exist, and the status if it cannot be executed. Source: env(1).
  private static let (absentStatus, unusableStatus): (Int32, Int32) = (127, 126)

  /// The first word of the command.
  let name: String
  private let place: Place
  private let path: String?
  private let words: [String]
  private let phase = Mutex(Phase.new(signals: []))

  private enum Phase {
    /// The command does not run yet. It receives these signals when it was started.
    case new(signals: [Int32])
    case running(Int32)
    case ended(Int32, Ending)
  }

  /// Creates a command, which is not started.
  ///
  /// - Parameters:
  ///   - words: The program and its arguments; at least one word.
  ///   - path: The path of the program; `nil` if the program is the first word, which is searched in `PATH`.
  ///   - place: The relation of the command to the terminal.
  init(_ words: [String], path: String? = nil, place: Place) {
    name = words[0]
    (self.words, self.path, self.place) = (words, path, place)
  }

  /// Starts the command. Call this method once.
  ///
  /// - Parameters:
  ///   - environment: The environment of the command: entries `NAME=value`.
  ///   - output: The descriptor of the file for the command's standard output and standard error; `nil` if the
  ///     command shares those of this program.
  ///   - waker: The waker to ring when the command has ended.
  /// - Throws: `FileError` if the program does not exist or cannot be executed.
  func start(environment: [[UInt8]], output: Int32?, waker: Waker) throws(FileError) {
    let (process, error) = spawned(environment, output: output)
    guard error == 0 else {
      throw FileError(
        "cannot run \"\(words[0])\"", errno: error,
        status: error == cmonitor_error_no_such_file ? Self.absentStatus : Self.unusableStatus)
    }
    phase.withLock { phase in
      if case .new(let signals) = phase { for signal in signals { send(signal, to: process) } }
      phase = .running(process)
    }
    DispatchQueue(label: "opq-command").async { [self] in
      awaitEnd(of: process)
      waker.ring()
    }
  }

  /// The process id of the command; 0 if it was not started.
  var processID: Int32 {
    switch phase.withLock({ $0 }) {
    case .new: 0
    case .running(let process), .ended(let process, _): process
    }
  }

  /// How the command ended; `nil` before.
  var ending: Ending? {
    if case .ended(_, let ending) = phase.withLock({ $0 }) { ending } else { nil }
  }

  /// Passes a signal on to the command, unless the terminal has already sent it to the command. If the command does
  /// not run yet, it receives the signal when it was started.
  ///
  /// - Parameters:
  ///   - signal: The number of the signal.
  ///   - isFromTerminal: Whether all processes of the terminal's foreground group have received the signal.
  /// - Returns: Whether the command receives the signal. The result is `false` if the command has ended.
  func passOn(_ signal: Int32, isFromTerminal: Bool) -> Bool {
    // The process id belongs to the command until `awaitEnd(of:)` sets the phase under the same lock.
    phase.withLock { phase in
      switch phase {
      case .new(let signals): phase = .new(signals: signals + [signal])
      case .running(let process):
        // If a terminal is lost, the system sends SIGHUP only to the leader of the session.
        let isOnlyReceiver = signal == cmonitor_signal_hangup && cmonitor_is_session_leader()
        if place == .ownSession || !isFromTerminal || isOnlyReceiver { send(signal, to: process) }
      case .ended: return false
      }
      return true
    }
  }

  /// Sends a signal to the command's process, or to its group if the group is its own.
  private func send(_ signal: Int32, to process: Int32) {
    cmonitor_send_signal(place == .ownSession ? -process : process, signal)
  }

  private func awaitEnd(of processID: Int32) {
    // No other process gets the id of the process before the lock is held.
    cmonitor_wait_for_end(processID)
    phase.withLock { phase in
      var (status, signal) = (Int32(0), Int32(0))
      let isKnown = cmonitor_take_ending(processID, &status, &signal)
      let ending = signal == 0 ? Ending.status(status) : .signal(signal)
      phase = .ended(processID, isKnown ? ending : .status(1))
    }
  }

  /// Starts the process. Returns its id and 0 if it succeeds, and otherwise the error number.
  private func spawned(
    _ environment: [[UInt8]], output: Int32?
  ) -> (process: Int32, error: Int32) {
    let arguments = words.flatMap { word -> [CChar] in Array(word.utf8CString) }
    let variables = environment.flatMap { entry -> [CChar] in
      entry.map(CChar.init(bitPattern:)) + [0]
    }
    var process: Int32 = 0
    let error = arguments.withUnsafeBufferPointer { arguments in
      variables.withUnsafeBufferPointer { variables in
        cmonitor_start_program(
          path, cmonitor_texts(bytes: arguments.baseAddress, count: words.count),
          cmonitor_texts(bytes: variables.baseAddress, count: environment.count),
          output ?? -1, place == .ownSession, &process)
      }
    }
    return (process, error)
  }
}
