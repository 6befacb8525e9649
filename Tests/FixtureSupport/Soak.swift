// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Uses a dashboard at random for some time. It types keys, pastes text, sends incomplete sequences
/// and signals, changes the size of the terminal, and stops the output. A seed determines these
/// actions.
///
/// It checks only the following: the program keeps running; its memory, descriptors and threads do
/// not grow; its last screen equals the screen after a redraw; and it restores the terminal.
///
/// Growth in the beginning is not a fault: lists are filled up to their limits, and released memory
/// is kept for later use. Therefore the program is measured several times while it receives no
/// input. The maximum in the first half of the time is the limit at the end.
package struct Soak {
  /// The results of a run: counts, measurements and faults.
  package struct Figures: CustomStringConvertible {
    /// The number of random actions.
    package var actions = 0
    /// How often the program was stopped and continued.
    package var stops = 0
    /// The number of bytes that the terminal received.
    package var bytes = 0
    /// The measurements of the program's resources.
    package var looks: [Look] = []
    /// The faults that were found.
    package var faults: [String] = []

    /// The results as text of several lines.
    package var description: String {
      var lines = ["\(actions) actions, \(stops) of them stops; \(bytes) bytes to the terminal"]
      lines += looks.map { "\($0)" }
      lines.append("\(memorySlack) KiB more at the end would have been called growth")
      if let leak = smallestLeak {
        lines.append("that is a leak of \(leak) bytes for each operation that came meanwhile")
      }
      return (lines + faults.map { "FAULT: \($0)" }).joined(separator: "\n")
    }

    /// The number of bytes that each operation would have to leak for the leak to be detected;
    /// `nil` if no operations were added between the measurements.
    private var smallestLeak: Int? {
      guard let early = earlyLooks.last, let late = lateLooks.first else { return nil }
      let count = late.operations - early.operations
      return count > 0 ? memorySlack * 1_024 / count : nil
    }

    /// The increase of memory in KiB that is tolerated.
    ///
    /// Released memory is not returned to the system if other memory near it is in use. While
    /// operations come and go, the gaps between them grow ever more slowly, up to a third of the
    /// operations' size. In the second half of any run, the increase is less than a quarter.
    fileprivate var memorySlack: Int { max(96 * 1_024, (looks.first?.memory ?? 0) / 4) }

    fileprivate var earlyLooks: ArraySlice<Look> { looks.prefix(looks.count / 2) }

    /// The last measurements. There are at least two, because a single one may be made when the
    /// program needs more memory for a moment.
    fileprivate var lateLooks: ArraySlice<Look> { looks.suffix(max(2, looks.count / 8)) }
  }

  /// The resources of the program at one moment.
  package struct Look: CustomStringConvertible {
    /// The private memory of the program, in KiB.
    package var memory = 0
    /// The number of open descriptors that are no timers.
    package var descriptors = 0
    /// The number of threads.
    package var threads = 0
    /// The number of added operations; 0 if the screen does not show the number.
    package var operations = 0

    /// The values as a line of text.
    package var description: String {
      "\(memory) KiB, \(descriptors) descriptors, \(threads) threads at \(operations) operations"
    }
  }

  /// The maximum time between two measurements. After a long time of random use, all queues would
  /// be suspended or paused, and no further operations would be added.
  private static let longestRound = Duration.seconds(8)
  /// The increase in the number of threads that is tolerated, because the number of worker threads
  /// depends on the number of ready operations.
  private static let threadSlack = 12

  private static let keys = [
    "j", "k", "G", "g", " ", "c", "t", "b", "B", "\t", "\u{1B}[Z", "<", ">", "s", "I", "w", "?",
    "\r",
    "\u{1B}", "R", "*", "D", "n", "N", "!", "U", "X", "Xa", "xn", "xy", "xa", "{", "}", "S", "S",
    "+", "-",
    "v", "C", "\u{1B}OQ", "y", "r", "r5/s\r", "@", "@50%\r", "T", "W", "V",
    "p", "p", "[", "]", "h", "l", "\u{1B}[A", "\u{1B}[B", "\u{1B}[5~", "\u{1B}[6~", "\u{1B}[H",
    "\u{1B}[F",
    "\u{1B}OP", "\u{1B}[15~", "\\job\r", "\\state:exec\r", "\\age>1s|!a\r", "/5\r", "#1000\r",
    "\u{C}", "\u{1B}\u{1B}",
  ]
  private static let noise = [
    "\u{1B}[<0;10;20M", "\u{1B}[M !!", "\u{1B}[99~", "\u{1B}]0;x\u{7}",
    "\u{1B}[200~two\nlines \u{1B}[A\u{3}\u{1B}[201~",
    "\\\u{1B}[200~\u{9B}2Jpasted\u{1B}[201~\u{1B}", "\u{1B}[", "\u{1B}O", "漢é", "\u{0}",
    "\u{1B}[200~never ended",
  ]

  private var random: SeededGenerator
  private let window: PseudoTerminal
  private let program: Int32
  /// The directory in which the program runs and writes its files.
  private let folder: TemporaryDirectory
  private var figures = Figures()

  /// Starts a program on a new terminal, with a limit of memory.
  ///
  /// - Parameters:
  ///   - seed: Determines the actions.
  ///   - path: The path of the program.
  ///   - arguments: The arguments of the program.
  ///   - memoryLimit: The maximum of the private memory of the program, in KiB.
  /// - Throws: `PseudoTerminal.Failure` if the program cannot be started.
  package init(seed: UInt64, path: String, arguments: [String], memoryLimit: Int) throws {
    random = SeededGenerator(seed: seed)
    window = try PseudoTerminal(columns: 100, rows: 30)
    folder = try TemporaryDirectory()
    let words = ([path] + arguments).map { "'\($0)'" }.joined(separator: " ")
    try window.start(
      "/bin/sh", ["-c", "cd \(folder.path) && ulimit -d \(memoryLimit) && exec \(words)"])
    program = window.child ?? 0
  }

  /// Uses the program for a certain time, and then ends it.
  ///
  /// - Parameters:
  ///   - duration: The time for which the program is used.
  ///   - operations: The number of added operations that must exist before the time begins. Memory
  ///     for these operations does not count as growth.
  ///   - lookCount: The minimum number of measurements. Each measurement takes some seconds.
  /// - Returns: The results.
  package mutating func run(
    for duration: Duration, fromOperations operations: Int = 1, lookCount: Int = 8
  ) -> Figures {
    guard window.wait(seconds: 60, until: { $0.isAlternate && $0.contains("total") }) else {
      return failed("there was no first frame")
    }
    guard window.wait(seconds: 300, until: { Self.operationCount(on: $0) >= operations }) else {
      return failed("it does not come to \(operations) operations")
    }
    openPickerOnce()
    let rounds = max(lookCount, Int((duration / Self.longestRound).rounded(.up)))
    for _ in 0..<rounds {
      work(until: .now + duration / rounds)
      guard isAlive else { return failed("it has ended") }
      settle()
      look()
    }
    compare()
    compareLooks()
    end()
    figures.bytes = window.byteCount
    return figures
  }

  /// Opens and closes the list of processes. Its first search opens the descriptors of an event loop, which stays open for
  /// later searches. The random keys may open the list at any time, also after half of the measurements.
  private mutating func openPickerOnce() {
    for (key, isOpen) in [("o", true), ("\u{1B}", false)] {
      window.type(key)
      if !window.wait(seconds: 20, until: { $0.contains("processes to attach to") == isOpen }) {
        figures.faults.append("o and Escape do not open and close the list of processes")
      }
    }
  }

  private mutating func look() {
    figures.looks.append(
      Look(
        memory: ProcessStatus.amount("VmRSS", of: program) ?? 0,
        descriptors: ProcessStatus.descriptorCountWithoutTimers(of: program) ?? 0,
        threads: ProcessStatus.amount("Threads", of: program) ?? 0,
        operations: Self.operationCount(on: window.screen)))
  }

  /// Returns the total number of operations, which is the last number in the line of counts; 0 if
  /// the screen has no such line.
  private static func operationCount(on screen: VirtualScreen) -> Int {
    let words = ["exec ", "ready ", "wait ", "canc"]
    let line = screen.lines.first { line in words.allSatisfy { line.contains($0) } }
    return line?.split(separator: " ").last.flatMap(count) ?? 0
  }

  /// Returns the number that the dashboard writes as `word`, such as `1,204`, `881k` or `1.2M`; `nil`
  /// if `word` is not a number.
  private static func count(_ word: Substring) -> Int? {
    let factors: [Character: Double] = ["k": 1_000, "M": 1_000_000]
    let factor = word.last.flatMap { factors[$0] }
    return Double((factor == nil ? word : word.dropLast()).filter { $0 != "," })
      .map { Int($0 * (factor ?? 1)) }
  }

  private var isAlive: Bool { ProcessStatus.amount("VmRSS", of: program) != nil }

  private mutating func failed(_ fault: String) -> Figures {
    figures.faults.append(fault)
    let ending = window.waitForEnd(seconds: 1)
    figures.faults.append("it ended with \(String(describing: ending)): \(window.screen.lines)")
    figures.bytes = window.byteCount
    return figures
  }

  private mutating func work(until deadline: ContinuousClock.Instant) {
    while ContinuousClock.now < deadline && isAlive {
      act()
      figures.actions += 1
      window.absorb(for: .milliseconds(Int.random(in: 0...20, using: &random)))
    }
  }

  private mutating func act() {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<70: window.type(Self.keys.randomElement(using: &random) ?? "j")
    case 70..<80: window.type(Self.noise.randomElement(using: &random) ?? "j")
    case 80..<90:
      window.resize(
        columns: Int.random(in: 1...200, using: &random),
        rows: Int.random(in: 1...60, using: &random))
    case 90..<93: window.signal(SIGWINCH)
    case 93..<95: stop(by: SIGSTOP)
    case 95..<97: stop(by: SIGTSTP)
    case 97: stop(by: nil)
    default:
      window.refuseOutput()
      window.type("jk\u{C}")
      window.absorb(for: .milliseconds(Int.random(in: 1...150, using: &random)))
      window.takeOutputAgain()
    }
  }

  /// Stops the program by a signal, or by Ctrl-Z if `signal` is `nil`, and then continues it.
  private mutating func stop(by signal: Int32?) {
    figures.stops += 1
    if let signal { window.signal(signal) } else { window.type("\u{1A}") }
    if signal != SIGSTOP { _ = window.waitForStop(seconds: 20) }
    if Bool.random(using: &random) { window.resize(columns: 90, rows: 28) }
    window.signal(SIGCONT)
  }

  /// Brings the dashboard to a known view before a measurement: a list that changes, on a screen
  /// that is large enough for all parts.
  private func settle() {
    window.resize(columns: 100, rows: 30)
    // The sequence `ESC [201~` ends an incomplete paste. After that, the key Escape closes every
    // open window.
    window.type("\u{1B}[201~")
    window.absorb(for: .milliseconds(1_200))
    for _ in 0..<6 {
      window.type("\u{1B}")
      window.absorb(for: .milliseconds(60))
    }
    if window.screen.contains("PAUSED") { window.type("p") }
    if Self.operationCount(on: window.screen) == 0 { window.type("#") }
    window.wait(seconds: 5) { Self.operationCount(on: $0) > 0 && !$0.contains("PAUSED") }
    resumeQueues()
  }

  /// Resumes every queue. While a queue is suspended, all operations of the demo collect in it
  /// after some time, and nothing changes.
  private func resumeQueues() {
    func selected(_ screen: VirtualScreen) -> String {
      screen.lines.first { $0.hasPrefix("▌") } ?? ""
    }
    window.type("\u{1B}3")
    guard window.wait(seconds: 5, until: { $0.contains("SLOTS") && $0.contains("HELD") }) else {
      return
    }
    window.type("g")
    for _ in 0..<8 {
      window.absorb(for: .milliseconds(100))
      if selected(window.screen).contains("SUSPENDED") {
        window.type("S")
        window.wait(seconds: 5) { !selected($0).contains("SUSPENDED") }
      }
      window.type("j")
    }
    window.type("\u{1B}1")
  }

  /// Checks that the contents of the screen, which were drawn incrementally, are the same after a
  /// complete redraw.
  private mutating func compare() {
    if !window.screen.contains("PAUSED") { window.type("p") }
    if !window.wait(seconds: 20, until: { $0.contains("PAUSED") }) {
      figures.faults.append("p does not pause it: \(window.screen.lines)")
    }
    window.absorb(for: .milliseconds(500))
    let shown = window.screen
    window.forgetScreen()
    window.type("\u{C}")
    window.wait(seconds: 10) { !$0.isBlank(row: $0.rows - 1) }
    window.absorb(for: .milliseconds(500))
    for (row, (left, right)) in zip(shown.lines, window.screen.lines).enumerated()
    where left != right {
      figures.faults.append("row \(row) was \"\(left)\" and is \"\(right)\" when it is redrawn")
    }
    if !window.screen.unknownSequences.isEmpty {
      figures.faults.append("unknown sequences: \(window.screen.unknownSequences)")
    }
  }

  private mutating func compareLooks() {
    func hasGrown(_ amount: KeyPath<Look, Int>, by slack: Int) -> Bool {
      let most = figures.earlyLooks.map { $0[keyPath: amount] }.max() ?? 0
      return figures.lateLooks.map { $0[keyPath: amount] }.min() ?? 0 > most + slack
    }
    if hasGrown(\.memory, by: figures.memorySlack) { figures.faults.append("memory has grown") }
    if hasGrown(\.descriptors, by: 0) { figures.faults.append("descriptors are left open") }
    if hasGrown(\.threads, by: Self.threadSlack) { figures.faults.append("threads are left") }
  }

  private mutating func end() {
    window.type("Q")
    guard window.waitForEnd(seconds: 60) == .status(0) else {
      figures.faults.append("Q does not end it with status 0")
      return
    }
    if !window.settings.isCooked || window.screen.isAlternate || !window.screen.isCursorVisible
      || window.screen.isPasteBracketed
    {
      figures.faults.append("the terminal is not given back")
    }
  }
}
