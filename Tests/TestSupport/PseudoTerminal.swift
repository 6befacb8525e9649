// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Glibc
import Synchronization

/// A terminal without a window: programs run on it, keys are typed on it, and ``screen`` is what a
/// person would see.
///
/// Nothing here sleeps: waiting is `poll` with a deadline on what really happens.
package final class PseudoTerminal {
  /// A call of the system that failed.
  package struct Failure: Error, CustomStringConvertible {
    /// What was tried, and the system's answer.
    package let description: String

    init(_ call: String, code: Int32 = errno) {
      description = "\(call): \(String(cString: strerror(code)))"
    }
  }

  /// How a program ended.
  package enum Ending: Equatable, Sendable {
    /// With this exit status.
    case status(Int32)
    /// By this signal.
    case signal(Int32)
  }

  /// What the terminal shows.
  package private(set) var screen: VirtualScreen
  /// How many bytes it was sent.
  package private(set) var byteCount = 0
  /// What it was sent since ``keepTranscript()``; `nil` before.
  package private(set) var transcript: [UInt8]?
  /// The processor time that the program had taken when it had ended; `nil` before.
  package private(set) var totalProcessorTime: Duration?
  /// The name under which programs open it.
  package let name: String

  /// Held while descriptors exist that a program would inherit, and while a program is started: tests on
  /// other threads have terminals too.
  private static let inheriting = Mutex(())

  private var controller: Int32
  /// Kept open, so that settings outlive the program that changed them.
  private var keeper: Int32
  /// The program that was started; `nil` where none runs.
  package private(set) var child: Int32?
  /// Is at its end when no process holds the other side any more.
  private var childIsGone: Int32?

  /// Creates a terminal of this size.
  ///
  /// - Throws: ``Failure`` where the system has none.
  package init(columns: Int = 80, rows: Int = 24) throws {
    // Else the widths of characters are those of the C locale.
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

  /// Opens the side of the programs; the caller closes it.
  package func open() throws -> Int32 {
    let descriptor = Glibc.open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure("open \(name)") }
    return descriptor
  }

  /// Starts a program with this as its controlling terminal and standard descriptors.
  ///
  /// - Parameters:
  ///   - path: The program.
  ///   - arguments: What it is called with, without its name.
  ///   - environment: Variables besides, or instead of, the usual ones, as `NAME=value`; `NAME`
  ///     alone unsets one.
  ///   - redirections: Files opened for standard descriptors instead of the terminal.
  /// - Throws: ``Failure`` where the program cannot be started.
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
    // Opened by the leader of a new session, it becomes the session's controlling terminal.
    posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
    posix_spawn_file_actions_adddup2(&actions, 0, 1)
    posix_spawn_file_actions_adddup2(&actions, 0, 2)
    for (descriptor, path) in redirections {
      posix_spawn_file_actions_addopen(
        &actions, descriptor, path, O_RDWR | O_CREAT | O_APPEND, 0o600)
    }
    // Held by the child until it ends, however it ends.
    posix_spawn_file_actions_adddup2(&actions, pipe[1], 3)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    // What the tests ignore at the moment, the program must not.
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
      // Each child its own: else they overwrite what the tests have measured.
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

  /// Types bytes that need not be text.
  package func type(bytes: [UInt8]) { _ = write(controller, bytes, bytes.count) }

  /// Types a key again and again without reading what it brings about, until the program is stuck
  /// in writing and takes no more keys.
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

  /// The processor time that the program has taken so far; `nil` where none runs.
  package var processorTime: Duration? {
    guard let child else { return nil }
    var clock = clockid_t()
    var time = timespec()
    guard clock_getcpuclockid(child, &clock) == 0, clock_gettime(clock, &time) == 0 else {
      return nil
    }
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// Keeps what it is sent from now on, byte for byte.
  package func keepTranscript() { transcript = [] }

  /// Takes nothing more, as after Ctrl-S, until ``takeOutputAgain()``: who writes to it waits.
  package func refuseOutput() { tcflow(keeper, TCOOFF) }

  /// Goes on taking what it is sent.
  package func takeOutputAgain() { tcflow(keeper, TCOON) }

  /// Shows nothing any more, as some terminals do when another program has written to them.
  package func forgetScreen() {
    let isAlternate = screen.isAlternate
    screen = VirtualScreen(columns: screen.columns, rows: screen.rows)
    if isAlternate { screen.feed("\u{1B}[?1049h".utf8) }
  }

  /// Changes the size. What is shown is cleared, as some terminals do.
  ///
  /// - Parameters:
  ///   - columns: How many columns programs are told of.
  ///   - rows: How many rows they are told of.
  ///   - shown: How many there are, where that is something else.
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

    /// Whether lines are edited and echoed, as a shell leaves them.
    package var isCooked: Bool {
      [ICANON, ECHO, ISIG].allSatisfy { local & UInt32($0) != 0 }
    }
  }

  /// Shows what arrives until a condition holds; `false` where it does not in `seconds`.
  @discardableResult
  package func wait(seconds: Int64 = 20, until isDone: (VirtualScreen) -> Bool) -> Bool {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while !isDone(screen) {
      guard takeOutput(until: deadline) else { return isDone(screen) }
    }
    return true
  }

  /// Shows what arrives, for as long as that is.
  package func absorb(for duration: Duration) {
    let deadline = ContinuousClock.now + duration
    while takeOutput(until: deadline) {}
  }

  /// Does nothing for so long, and shows nothing of what arrives, unless the program ends.
  package func ignore(for duration: Duration) {
    guard let childIsGone else { return }
    var isGone = false
    _ = wait(for: childIsGone, until: .now + duration, isReading: false, isReady: &isGone)
  }

  /// Waits until the program stops, as by Ctrl-Z; `false` where it ends instead, or does neither in
  /// `seconds`.
  package func waitForStop(seconds: Int64 = 20) -> Bool {
    guard let child, wait(seconds: seconds, until: { !$0.isAlternate }) else { return false }
    // What it had to write is written: it is about to stop.
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

  /// Waits until the program has ended, and says how; `nil` where it does not in `seconds`.
  ///
  /// - Parameters:
  ///   - seconds: How long to wait.
  ///   - isReading: Whether what the program writes is taken meanwhile.
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

  /// Waits for output, which it shows, or for another descriptor; `false` when the time is up.
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
