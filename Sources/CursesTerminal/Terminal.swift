// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CNCurses
import CTerminalSystem
public import Dashboard
import Glibc

/// The terminal in full-screen use: shows grids, and reads keys.
///
/// There is at most one at a time, because ncurses keeps its state in globals, and it belongs to the
/// thread that opened it. It gives the terminal back as it was found when it is closed or dropped,
/// and when the process ends by a fatal signal. What the process writes to standard error meanwhile,
/// if that is a terminal, is held back and printed after that.
public struct Terminal: ~Copyable {
  /// What a terminal is opened with.
  public struct Options: Sendable {
    /// Which characters may be drawn.
    public enum Characters: Sendable {
      /// Those of the locale: all where it is one of UTF-8, else ASCII.
      case byLocale
      /// ASCII only.
      case ascii
      /// All, whatever the locale says.
      case unicode
    }

    /// Which characters may be drawn.
    public var characters: Characters
    /// Whether colours may be used.
    public var usesColor: Bool
    /// Whether what was shown last stays on the terminal, as text, when it is given back.
    public var keepsLastGrid: Bool

    /// Creates options; by default those that the locale and the terminal allow, and nothing stays.
    public init(
      characters: Characters = .byLocale, usesColor: Bool = true, keepsLastGrid: Bool = false
    ) {
      self.characters = characters
      self.usesColor = usesColor
      self.keepsLastGrid = keepsLastGrid
    }
  }

  /// What came of reading keys.
  public enum Reading: Sendable, Equatable {
    /// These keys were pressed, in this order; none where a sequence is not complete yet.
    case inputs([Input])
    /// There is no terminal any more.
    case gone
  }

  /// Becomes readable when a key is pressed, and reports a hang-up when the terminal is gone.
  public let descriptor: Int32
  /// What can be shown.
  public let capabilities: Capabilities
  /// How large the screen is, as of the last ``updateSize()`` or ``suspend()``.
  public private(set) var size: Size

  private let keepsLastGrid: Bool
  private let palette: Palette
  private let heldErrors: Int32
  private var decoder: KeyDecoder
  /// What is on the screen; `nil` where that is not known.
  private var shown: Grid?
  private var row: [cncurses_cell] = []

  /// Opens the terminal that controls the process.
  ///
  /// - Throws: ``TerminalError`` where there is none, or where it cannot show a grid.
  public init(_ options: Options = Options()) throws(TerminalError) {
    let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { throw TerminalError(.notATerminal) }
    try self.init(owning: descriptor, type: nil, options: options)
  }

  /// Opens a terminal by its descriptor, and closes that in the end, even where this throws.
  ///
  /// - Parameters:
  ///   - descriptor: Open for reading and writing.
  ///   - type: The terminal's type; `nil` for that of the environment.
  ///   - options: Which characters and colours to use.
  /// - Throws: ``TerminalError`` where it is no terminal, or cannot show a grid.
  package init(owning descriptor: Int32, type: String?, options: Options) throws(TerminalError) {
    // Where standard error goes elsewhere it cannot spoil the screen.
    let heldErrors =
      isatty(STDERR_FILENO) == 1 ? cterminal_memory_descriptor("standard error", 1 << 20) : -1
    let status = cncurses_open(
      descriptor, type, options.characters.choice, options.usesColor, heldErrors)
    guard status == CNCURSES_OPENED else {
      if heldErrors >= 0 { _ = Glibc.close(heldErrors) }
      _ = Glibc.close(descriptor)
      throw TerminalError(
        status, type: type ?? getenv("TERM").map { String(cString: $0) })
    }
    let colors = Capabilities.Colors(count: Int(cncurses_colors()))
    self.descriptor = descriptor
    self.heldErrors = heldErrors
    keepsLastGrid = options.keepsLastGrid
    capabilities = Capabilities(isUnicode: cncurses_is_unicode(), colors: colors)
    palette = Palette(colors: colors)
    decoder = KeyDecoder(terminalKeys: KeySequence.ofOpenTerminal())
    size = Self.currentSize
  }

  deinit {
    if cncurses_close(), keepsLastGrid, let shown {
      Self.write(shown.printable(isUnicode: capabilities.isUnicode), to: descriptor)
    }
    if heldErrors >= 0 { _ = Glibc.close(heldErrors) }
    _ = Glibc.close(descriptor)
  }

  /// Gives the terminal back as it was found, and prints what was held back.
  public consuming func close() {}

  /// Gives the terminal back at once with bytes that were prepared when it was opened.
  ///
  /// For a process that ends while the thread that owns the terminal does not answer; any thread may
  /// call it. Without an open terminal it does nothing.
  public static func restoreNow() { cncurses_restore_now() }

  /// Shows a grid, with as few bytes as its difference to the one before takes; none where it is
  /// equal. What is beyond the screen is cut, and what the grid lacks is blank.
  public mutating func present(_ grid: Grid) {
    guard shown != grid else { return }
    for index in 0..<size.rows {
      guard index < grid.size.rows else {
        cncurses_put_row(Int32(index), nil, 0)
        continue
      }
      if let shown, shown.size == grid.size, shown.row(index) == grid.row(index) { continue }
      row.removeAll(keepingCapacity: true)
      for cell in grid.row(index) { row.append(drawn(cell)) }
      cncurses_put_row(Int32(index), row, row.count)
    }
    cncurses_show()
    shown = grid
  }

  /// Makes the next ``present(_:)`` write the whole screen, whatever it shows.
  public mutating func repaintAll() {
    shown = nil
    cncurses_repaint()
  }

  /// Asks the terminal for its size, which it may have changed, and repaints all.
  public mutating func updateSize() {
    cncurses_update_size()
    shown = nil
    size = Self.currentSize
  }

  /// Rings the bell.
  public func ringBell() { cncurses_bell() }

  /// Gives the terminal back, stops the process until its shell continues it, and takes the terminal
  /// again. The size may be another then.
  public mutating func suspend() {
    cncurses_leave()
    cterminal_stop()
    takeAgain()
  }

  /// Sets the terminal up anew, after somebody else stopped the process and another program may
  /// have used it.
  public mutating func reclaim() {
    cncurses_leave()
    takeAgain()
  }

  private mutating func takeAgain() {
    cncurses_enter()
    shown = nil
    size = Self.currentSize
  }

  /// How long to wait for more keys before ``expireInput()``; `nil` where no sequence is incomplete.
  public var inputPatience: Duration? { decoder.patience }

  /// Reads the keys that have arrived. To be called when ``descriptor`` is readable: else it blocks.
  public mutating func readInput() -> Reading {
    var count = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, filled in
      repeat {
        count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      } while count < 0 && errno == EINTR
      filled = max(0, count)
    }
    // An error other than having to wait means that the other side has hung up.
    if count < 0 && errno == EAGAIN { return .inputs([]) }
    return count > 0 ? .inputs(decoder.consume(bytes)) : .gone
  }

  /// Takes note that no more has come: an ESC that waits is the Escape key then.
  public mutating func expireInput() -> [Input] { decoder.expire() }

  /// Writes all of a text, or what the terminal takes of it before it is gone.
  private static func write(_ text: String, to descriptor: Int32) {
    var text = text
    text.withUTF8 { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = Glibc.write(
          descriptor, UnsafeBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count < 0 && errno == EINTR { continue }
        if count <= 0 { return }
        rest = rest.dropFirst(count)
      }
    }
  }

  private func drawn(_ cell: Cell) -> cncurses_cell {
    let ink = palette.ink(for: cell.style)
    return cncurses_cell(
      scalar: cell.scalar.value, mark: cell.mark?.value ?? 0, foreground: ink.foreground,
      attributes: ink.attributes, is_continuation: cell.isContinuation)
  }

  private static var currentSize: Size {
    Size(columns: Int(cncurses_columns()), rows: Int(cncurses_rows()))
  }
}

@available(*, unavailable)
extension Terminal: Sendable {}

extension Terminal.Options.Characters {
  var choice: cncurses_characters {
    switch self {
    case .byLocale: CNCURSES_BY_LOCALE
    case .ascii: CNCURSES_ASCII
    case .unicode: CNCURSES_UNICODE
    }
  }
}

extension Capabilities.Colors {
  /// The most of the known numbers that a terminal with `count` colours has.
  init(count: Int) {
    self =
      switch count {
      case 256...: .twoHundredFiftySix
      case 16...: .sixteen
      case 8...: .eight
      default: .none
      }
  }
}

extension TerminalError {
  init(_ status: cncurses_status, type: String?) {
    let code: Code =
      switch status {
      case CNCURSES_ALREADY_OPEN: .alreadyOpen
      case CNCURSES_NOT_A_TERMINAL: .notATerminal
      case CNCURSES_UNKNOWN_TERMINAL: .unknownType(type.flatMap { $0.isEmpty ? nil : $0 })
      case CNCURSES_TOO_DUMB: .tooDumb(type ?? "")
      default: .noResources
      }
    self.init(code)
  }
}
