// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A terminal without a window. Tests run programs on it and type keys. ``screen`` has the contents
/// that a user of the terminal would see.
///
/// The functions that wait use `poll` with a deadline, and never sleep.
package final class PseudoTerminal {
  /// A system call that failed.
  package struct Failure: Error, CustomStringConvertible {
    /// The name of the system call, and the system's error message.
    package let description: String

    init(_ call: String, code: Int32 = errno) {
      description = "\(call): \(String(cString: strerror(code)))"
    }
  }

  /// The way in which a program ended.
  package enum Ending: Equatable, Sendable {
    /// The program ended with this exit status.
    case status(Int32)
    /// This signal ended the program.
    case signal(Int32)
  }

  /// The contents of the terminal's screen.
  package private(set) var screen: VirtualScreen
  /// The number of bytes that the terminal has received from programs.
  package private(set) var byteCount = 0
  /// The bytes that were received since the call of ``keepTranscript()``; `nil` before this call.
  package private(set) var transcript: [UInt8]?
  /// The processor time that the program has used; `nil` while it runs.
  package private(set) var totalProcessorTime: Duration?
  /// The name with which programs open the terminal.
  package let name: String

  /// A lock that is held while a program is started, and while descriptors exist that a started
  /// program would inherit. Tests on other threads may start programs at the same time.
  private static let inheriting = Mutex(())

  private var controller: Int32
  /// A descriptor of the program's side of the terminal. It stays open, so that the terminal keeps
  /// its settings when the program has ended.
  private var keeper: Int32
  /// The process id of the started program; `nil` if no program runs.
  package private(set) var child: Int32?
  /// A descriptor of a pipe. Reading it reaches the end when the started program has ended.
  private var childIsGone: Int32?

  /// Creates a terminal with a number of columns and rows.
  ///
  /// - Throws: ``Failure`` if the system cannot create a terminal.
  package init(columns: Int = 80, rows: Int = 24) throws {
    // In the C locale, which is the default, the widths of characters beyond ASCII would be wrong.
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

  /// Opens the side of the terminal that programs use, and returns the descriptor, which the caller
  /// must close.
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
    // The program is the leader of a new session. The first terminal that it opens becomes the
    // session's controlling terminal.
    posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
    posix_spawn_file_actions_adddup2(&actions, 0, 1)
    posix_spawn_file_actions_adddup2(&actions, 0, 2)
    for (descriptor, path) in redirections {
      posix_spawn_file_actions_addopen(
        &actions, descriptor, path, O_RDWR | O_CREAT | O_APPEND, 0o600)
    }
    // The program inherits one end of the pipe and keeps it open until the program ends.
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
    let newSession: Int32 = 0x80  // POSIX_SPAWN_SETSID, which the module `Glibc` lacks
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
      // The path is not a directory, so that no program reads or writes the settings of the user.
      "XDG_CONFIG_HOME=/dev/null",
    ]
    if let profile = getenv("LLVM_PROFILE_FILE").map({ String(cString: $0) }) {
      // Each program writes its coverage data to its own file. Otherwise, it would overwrite the
      // data of the tests.
      variables.append("LLVM_PROFILE_FILE=\(profile)-child%p.profraw")
    }
    for change in changes {
      let name = change.prefix { $0 != "=" }
      variables.removeAll { $0.hasPrefix("\(name)=") }
      if change.contains("=") { variables.append(change) }
    }
    return variables
  }

  /// Types text on the terminal's keyboard.
  package func type(_ text: String) {
    var text = text
    text.withUTF8 { _ = write(controller, $0.baseAddress, $0.count) }
  }

  /// Types bytes, which need not be valid UTF-8.
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
  package var processorTime: Duration? { child.flatMap { FixtureSupport.processorTime(of: $0) } }

  /// Begins to keep all received bytes.
  package func keepTranscript() { transcript = [] }

  /// Stops the output of programs, as Ctrl-S does, until ``takeOutputAgain()`` is called. A program
  /// that writes is blocked.
  package func refuseOutput() { tcflow(keeper, TCOOFF) }

  /// Resumes the output of programs, as Ctrl-Q does.
  package func takeOutputAgain() { tcflow(keeper, TCOON) }

  /// Clears the contents of the screen without the program's knowledge.
  package func forgetScreen() {
    let isAlternate = screen.isAlternate
    screen = VirtualScreen(columns: screen.columns, rows: screen.rows)
    if isAlternate { screen.feed("\u{1B}[?1049h".utf8) }
  }

  /// Changes the size of the terminal and clears its contents, as some terminals do.
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

  /// Closes the terminal's window.
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

    /// Whether the terminal edits and echoes lines, and converts keys such as Ctrl-C to signals, as
    /// in a shell.
    package var isCooked: Bool {
      [ICANON, ECHO, ISIG].allSatisfy { local & UInt32($0) != 0 }
    }
  }

  /// Reads output until the screen satisfies a condition. Returns `false` if it does not satisfy
  /// the condition within `seconds`.
  @discardableResult
  package func wait(seconds: Int64 = 60, until isDone: (VirtualScreen) -> Bool) -> Bool {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while !isDone(screen) {
      guard takeOutput(until: deadline) else { return isDone(screen) }
    }
    return true
  }

  /// Reads output until the selected row contains a text. Keys act on the selected row.
  package func waitForSelection(of text: String) -> Bool {
    wait { screen in screen.lines.contains { $0.hasPrefix("▌") && $0.contains(text) } }
  }

  /// Reads output for a certain time.
  package func absorb(for duration: Duration) {
    let deadline = ContinuousClock.now + duration
    while takeOutput(until: deadline) {}
  }

  /// Waits for a certain time without reading output, or until the program ends.
  package func ignore(for duration: Duration) {
    guard let childIsGone else { return }
    var isGone = false
    _ = wait(for: childIsGone, until: .now + duration, isReading: false, isReady: &isGone)
  }

  /// Waits until the program is stopped, as by Ctrl-Z. Returns `false` if the program ends, or is
  /// not stopped within `seconds`.
  package func waitForStop(seconds: Int64 = 60) -> Bool {
    guard let child, wait(seconds: seconds, until: { !$0.isAlternate }) else { return false }
    // The program has left the alternate screen, so it will be stopped soon. It writes nothing more
    // before that.
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

  /// Waits until the program ends.
  ///
  /// - Parameters:
  ///   - seconds: The maximum time.
  ///   - isReading: Whether the program's output is read during the wait.
  /// - Returns: How the program ended; `nil` if it did not end within `seconds`.
  package func waitForEnd(seconds: Int64 = 60, isReading: Bool = true) -> Ending? {
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

  /// Waits until there is output, and reads it, or until another descriptor can be read. Returns
  /// `false` after the deadline.
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
