// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Glibc
import Synchronization

/// A terminal without a window. Tests run programs on it and type keys, and ``screen`` has the
/// contents that a person would see.
///
/// It never sleeps. It waits for events with `poll` and a deadline.
package final class PseudoTerminal {
  /// A system call that failed.
  package struct Failure: Error, CustomStringConvertible {
    /// The call, and the error of the system.
    package let description: String

    init(_ call: String, code: Int32 = errno) {
      description = "\(call): \(String(cString: strerror(code)))"
    }
  }

  /// How a program ended.
  package enum Ending: Equatable, Sendable {
    /// The program ended with this exit status.
    case status(Int32)
    /// This signal ended the program.
    case signal(Int32)
  }

  /// The contents of the terminal.
  package private(set) var screen: VirtualScreen
  /// The number of received bytes.
  package private(set) var byteCount = 0
  /// The bytes received since ``keepTranscript()``; `nil` before.
  package private(set) var transcript: [UInt8]?
  /// The processor time of the program up to its end; `nil` before its end.
  package private(set) var totalProcessorTime: Duration?
  /// The name with which programs open the terminal.
  package let name: String

  /// The lock is held while inheritable descriptors exist, and while a program is started, because
  /// tests on other threads have terminals too.
  private static let inheriting = Mutex(())

  private var controller: Int32
  /// The descriptor is kept open, so that settings outlive the program that changed them.
  private var keeper: Int32
  /// The process id of the started program; `nil` if no program runs.
  package private(set) var child: Int32?
  /// Reading reaches the end of the output when no process has the other side open.
  private var childIsGone: Int32?

  /// Creates a terminal of this size.
  ///
  /// - Throws: ``Failure`` if the system has none.
  package init(columns: Int = 80, rows: Int = 24) throws {
    // Without this, the widths of characters are those of the C locale.
    setlocale(LC_CTYPE, "C.UTF-8")
    var controller: Int32 = -1
    var keeper: Int32 = -1
    var size = winsize(
      ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    let code = Self.inheriting.withLock { _ in
      guard openpty(&controller, &keeper, nil, nil, &size) == 0 else { return errno }
      _ = fcntl(controller, F_SETFD, FD_CLOEXEC)
      _ = fcntl(keeper, F_SETFD, FD_CLOEXEC)
      return 0
    }
    guard code == 0 else { throw Failure("openpty", code: code) }
    var name = [CChar](repeating: 0, count: 64)
    guard ttyname_r(keeper, &name, name.count) == 0 else { throw Failure("ttyname_r") }
    self.name = String(
      decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    self.controller = controller
    self.keeper = keeper
    screen = VirtualScreen(columns: columns, rows: rows)
  }

  deinit {
    if let child {
      kill(child, SIGKILL)
      waitpid(child, nil, 0)
    }
    for descriptor in [controller, keeper, childIsGone ?? -1] where descriptor >= 0 {
      close(descriptor)
    }
  }

  /// Opens the programs' side of the terminal. The caller closes it.
  package func open() throws -> Int32 {
    let descriptor = Glibc.open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure("open \(name)") }
    return descriptor
  }

  /// Starts a program that has this terminal as its controlling terminal and standard descriptors.
  ///
  /// - Parameters:
  ///   - path: The path of the program.
  ///   - arguments: The arguments of the program, without its name.
  ///   - environment: Changes to the usual environment, as `NAME=value`; `NAME` alone removes a
  ///     variable.
  ///   - redirections: Files for standard descriptors instead of the terminal.
  /// - Throws: ``Failure`` if the program cannot be started.
  package func start(
    _ path: String, _ arguments: [String] = [], environment: [String] = [],
    redirections: [Int32: String] = [:]
  ) throws {
    var pipe: [Int32] = [-1, -1]
    let error = Self.inheriting.withLock { _ in
      guard Glibc.pipe(&pipe) == 0 else { return errno }
      for descriptor in pipe { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
      return 0
    }
    guard error == 0 else { throw Failure("pipe", code: error) }
    defer { close(pipe[1]) }
    childIsGone = pipe[0]

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // When the leader of a new session opens the terminal, it becomes the session's controlling
    // terminal.
    posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
    posix_spawn_file_actions_adddup2(&actions, 0, 1)
    posix_spawn_file_actions_adddup2(&actions, 0, 2)
    for (descriptor, path) in redirections {
      posix_spawn_file_actions_addopen(
        &actions, descriptor, path, O_RDWR | O_CREAT | O_APPEND, 0o600)
    }
    // The child keeps the descriptor open until it ends.
    posix_spawn_file_actions_adddup2(&actions, pipe[1], 3)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    // The program must not inherit the signals that the tests ignore.
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigdefault(&attributes, &all)
    let newSession: Int32 = 0x80  // POSIX_SPAWN_SETSID, which the module does not import
    posix_spawnattr_setflags(
      &attributes, Int16(newSession | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    var arguments = ([path] + arguments).map { strdup($0) } + [nil]
    var variables = Self.environment(environment).map { strdup($0) } + [nil]
    defer { for text in arguments + variables { free(text) } }
    var child: pid_t = 0
    let code = Self.inheriting.withLock { _ in
      posix_spawn(&child, path, &actions, &attributes, &arguments, &variables)
    }
    guard code == 0 else { throw Failure("posix_spawn \(path)", code: code) }
    self.child = child
  }

  private static func environment(_ changes: [String]) -> [String] {
    var variables = [
      "PATH=/usr/bin:/bin", "LANG=C.UTF-8", "TERM=xterm-256color",
      "SWIFT_BACKTRACE=enable=no",
    ]
    if let profile = getenv("LLVM_PROFILE_FILE").map({ String(cString: $0) }) {
      // Each child needs its own file. Otherwise, they overwrite the tests' measurements.
      variables.append("LLVM_PROFILE_FILE=\(profile)-child%p.profraw")
    }
    for change in changes {
      let name = change.prefix { $0 != "=" }
      variables.removeAll { $0.hasPrefix("\(name)=") }
      if change.contains("=") { variables.append(change) }
    }
    return variables
  }

  /// Types text.
  package func type(_ text: String) {
    var text = text
    text.withUTF8 { _ = write(controller, $0.baseAddress, $0.count) }
  }

  /// Types bytes, which need not be text.
  package func type(bytes: [UInt8]) { _ = write(controller, bytes, bytes.count) }

  /// Types a key repeatedly without reading the output, until the program blocks in a write and
  /// reads no further keys.
  package func typeUntilStuck(_ key: String) {
    while true {
      type(key)
      let deadline = ContinuousClock.now + .milliseconds(500)
      while unreadKeyCount > 0 {
        guard ContinuousClock.now < deadline else { return }
        sched_yield()
      }
    }
  }

  private var unreadKeyCount: Int32 {
    var count: Int32 = 0
    _ = ioctl(keeper, UInt(FIONREAD), &count)
    return count
  }

  /// Sends the program a signal.
  package func signal(_ number: Int32) {
    if let child { kill(child, number) }
  }

  /// The processor time of the program so far; `nil` if no program runs.
  package var processorTime: Duration? {
    guard let child else { return nil }
    var clock = clockid_t()
    var time = timespec()
    guard clock_getcpuclockid(child, &clock) == 0, clock_gettime(clock, &time) == 0 else {
      return nil
    }
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// Begins to keep all received bytes.
  package func keepTranscript() { transcript = [] }

  /// Stops receiving output, as after Ctrl-S, until ``takeOutputAgain()``. Writers block meanwhile.
  package func refuseOutput() { tcflow(keeper, TCOOFF) }

  /// Receives output again.
  package func takeOutputAgain() { tcflow(keeper, TCOON) }

  /// Clears the contents, like some terminals after another program has written to them.
  package func forgetScreen() {
    let isAlternate = screen.isAlternate
    screen = VirtualScreen(columns: screen.columns, rows: screen.rows)
    if isAlternate { screen.feed("\u{1B}[?1049h".utf8) }
  }

  /// Changes the size. The contents are cleared, as some terminals do.
  ///
  /// - Parameters:
  ///   - columns: The number of columns that programs see.
  ///   - rows: The number of rows that programs see.
  ///   - shown: The actual size, if it is different.
  package func resize(columns: Int, rows: Int, shownAs shown: (columns: Int, rows: Int)? = nil) {
    screen = VirtualScreen(columns: shown?.columns ?? columns, rows: shown?.rows ?? rows)
    var size = winsize(
      ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(controller, UInt(TIOCSWINSZ), &size)
  }

  /// Closes the window.
  package func hangUp() {
    close(keeper)
    close(controller)
    keeper = -1
    controller = -1
  }

  /// The terminal's settings, as `stty` shows them.
  package var settings: Settings {
    var settings = termios()
    tcgetattr(keeper, &settings)
    return Settings(
      input: settings.c_iflag, output: settings.c_oflag, control: settings.c_cflag,
      local: settings.c_lflag)
  }

  /// The settings of a terminal.
  package struct Settings: Equatable, Sendable {
    let input, output, control, local: UInt32

    /// Whether lines are edited and echoed, as in a shell.
    package var isCooked: Bool {
      [ICANON, ECHO, ISIG].allSatisfy { local & UInt32($0) != 0 }
    }
  }

  /// Reads output until a condition is met; `false` if it is not met in `seconds`.
  @discardableResult
  package func wait(seconds: Int64 = 20, until isDone: (VirtualScreen) -> Bool) -> Bool {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while !isDone(screen) {
      guard takeOutput(until: deadline) else { return isDone(screen) }
    }
    return true
  }

  /// Reads output for a duration.
  package func absorb(for duration: Duration) {
    let deadline = ContinuousClock.now + duration
    while takeOutput(until: deadline) {}
  }

  /// Waits for a duration without reading output, unless the program ends.
  package func ignore(for duration: Duration) {
    guard let childIsGone else { return }
    var isGone = false
    _ = wait(for: childIsGone, until: .now + duration, isReading: false, isReady: &isGone)
  }

  /// Waits until the program stops, as after Ctrl-Z; `false` if it ends instead, or does neither in
  /// `seconds`.
  package func waitForStop(seconds: Int64 = 20) -> Bool {
    guard let child, wait(seconds: seconds, until: { !$0.isAlternate }) else { return false }
    // The program has written all its output, so it is about to stop.
    let deadline = ContinuousClock.now + .seconds(seconds)
    var status: Int32 = 0
    while ContinuousClock.now < deadline {
      if waitpid(child, &status, WUNTRACED | WNOHANG) == child {
        if status & 0xFF == 0x7F { return true }
        self.child = nil
        return false
      }
      sched_yield()
    }
    return false
  }

  /// Waits for the end of the program; `nil` if it does not end in `seconds`.
  ///
  /// - Parameters:
  ///   - seconds: The maximum time.
  ///   - isReading: Whether the program's output is read meanwhile.
  /// - Returns: How it ended.
  package func waitForEnd(seconds: Int64 = 20, isReading: Bool = true) -> Ending? {
    guard let child, let childIsGone else { return nil }
    let deadline = ContinuousClock.now + .seconds(seconds)
    var isGone = false
    while !isGone {
      guard wait(for: childIsGone, until: deadline, isReading: isReading, isReady: &isGone) else {
        return nil
      }
    }
    absorb(for: .zero)
    var status: Int32 = 0
    var usage = rusage()
    guard wait4(child, &status, 0, &usage) == child else { return nil }
    self.child = nil
    totalProcessorTime = [usage.ru_utime, usage.ru_stime].reduce(.zero) {
      $0 + .seconds($1.tv_sec) + .microseconds($1.tv_usec)
    }
    return status & 0x7F == 0 ? .status(status >> 8 & 0xFF) : .signal(status & 0x7F)
  }

  private func takeOutput(until deadline: ContinuousClock.Instant) -> Bool {
    var isReady = false
    return wait(for: -1, until: deadline, isReady: &isReady)
  }

  /// Waits for output, which it reads, or for another descriptor; `false` after the deadline.
  private func wait(
    for descriptor: Int32, until deadline: ContinuousClock.Instant, isReading: Bool = true,
    isReady: inout Bool
  ) -> Bool {
    let left = max(.zero, deadline - .now)
    let timeout = Int32(left / .milliseconds(1)) + (left > .zero ? 1 : 0)
    var entries = [
      pollfd(fd: isReading ? controller : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
    ]
    guard poll(&entries, nfds_t(entries.count), timeout) > 0 else { return false }
    isReady = entries[1].revents != 0
    guard entries[0].revents != 0 else { return true }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = read(controller, &bytes, bytes.count)
    guard count > 0 else { return isReady }
    byteCount += count
    transcript?.append(contentsOf: bytes.prefix(count))
    screen.feed(bytes.prefix(count))
    return true
  }
}
