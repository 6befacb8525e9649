// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import Dispatch
import MonitorProtocol
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

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
  private let words: [String]
  private let phase = Mutex(Phase.new(signals: []))

  private enum Phase {
    /// The command does not run yet. It receives these signals when it was started.
    case new(signals: [Int32])
    case running(pid_t)
    case ended(pid_t, Ending)
  }

  /// Creates a command, which is not started.
  ///
  /// - Parameters:
  ///   - words: The program and its arguments; at least one word. The program is searched in `PATH`.
  ///   - place: The relation of the command to the terminal.
  init(_ words: [String], place: Place) {
    name = words[0]
    (self.words, self.place) = (words, place)
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
    let (process, error) = Self.spawned(words, environment, output: output, place)
    guard error == 0 else {
      throw FileError(
        "cannot run \"\(words[0])\"", errno: error,
        status: error == ENOENT ? Self.absentStatus : Self.unusableStatus)
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
  var processID: pid_t {
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
        let isOnlyReceiver = signal == SIGHUP && getsid(0) == getpid()
        if place == .ownSession || !isFromTerminal || isOnlyReceiver { send(signal, to: process) }
      case .ended: return false
      }
      return true
    }
  }

  /// Sends a signal to the command's process, or to its group if the group is its own.
  private func send(_ signal: Int32, to process: pid_t) {
    kill(place == .ownSession ? -process : process, signal)
  }

  private func awaitEnd(of processID: pid_t) {
    var facts = siginfo_t()
    // The first call leaves the process as a zombie, so that no other process gets its id before the lock is held.
    while waitid(P_PID, id_t(processID), &facts, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    phase.withLock { phase in
      var status: Int32 = 0
      guard waitpid(processID, &status, 0) == processID else {
        phase = .ended(processID, .status(1))
        return
      }
      let signal = status & 0x7F
      phase = .ended(processID, signal == 0 ? .status(status >> 8 & 0xFF) : .signal(signal))
    }
  }

  /// Starts the process. Returns its id and 0 if it succeeds, and otherwise the `errno`.
  private static func spawned(
    _ words: [String], _ environment: [[UInt8]], output: Int32?, _ place: Place
  ) -> (process: pid_t, error: Int32) {
    // A parent that ignores SIGCHLD makes the system discard the endings of children.
    signal(SIGCHLD, SIG_DFL)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if place == .ownSession {
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    }
    if let output {
      posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
      posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // This program blocks and ignores signals, which the command must not inherit.
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigaddset(&signals, SIGPIPE)
    sigaddset(&signals, SIGXFSZ)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    let newSession: Int32 = 0x80  // POSIX_SPAWN_SETSID, which the module `Glibc` lacks
    posix_spawnattr_setflags(
      &attributes,
      Int16(
        POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (place == .ownSession ? newSession : 0)))
    var arguments = words.map { strdup($0) } + [nil]
    var variables = environment.map { strdup($0.map(CChar.init(bitPattern:)) + [0]) } + [nil]
    defer { for text in arguments + variables { free(text) } }
    var process: pid_t = 0
    let error = posix_spawnp(&process, words[0], &actions, &attributes, &arguments, &variables)
    return (process, error)
  }
}
