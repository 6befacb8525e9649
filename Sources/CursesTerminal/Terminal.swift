// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import CNCurses
public import Dashboard

/// A terminal in full-screen use. It shows grids of cells, and reads keys.
///
/// There is at most one `Terminal` at a time, because ncurses keeps its state in global variables. Only the
/// thread that opened a `Terminal` may use it. A `Terminal` restores the terminal when it is closed or
/// destroyed, and when the process ends by a fatal signal. If standard error is a terminal, text that the
/// process writes to standard error is held back, and printed after the terminal was restored.
public struct Terminal: ~Copyable {
  /// The options of a terminal.
  public struct Options: Sendable {
    /// The characters that may be drawn.
    public enum Characters: Sendable {
      /// The locale determines which characters may be drawn: all characters if it is a UTF-8 locale,
      /// otherwise ASCII.
      case byLocale
      /// Only ASCII characters may be drawn.
      case ascii
      /// All characters may be drawn, in any locale.
      case unicode
    }

    /// The characters that may be drawn.
    public var characters: Characters
    /// Whether colors may be used.
    public var usesColor: Bool
    /// Whether the last grid stays on the terminal, as text, when the terminal is restored.
    public var keepsLastGrid: Bool
    /// The colors of the grids.
    public var theme = Theme.automatic

    /// Creates options. By default the locale and the terminal determine characters and colors, and the last
    /// grid does not stay.
    public init(
      characters: Characters = .byLocale, usesColor: Bool = true, keepsLastGrid: Bool = false
    ) {
      self.characters = characters
      self.usesColor = usesColor
      self.keepsLastGrid = keepsLastGrid
    }
  }

  /// The result of reading keys.
  public enum Reading: Sendable, Equatable {
    /// The keys that were pressed, in order. The array is empty if a key sequence is incomplete.
    case inputs([Input])
    /// The terminal no longer exists.
    case gone
  }

  /// A descriptor that becomes readable when a key is pressed, and reports a hang-up when the terminal no
  /// longer exists.
  public let descriptor: Int32
  /// The capabilities of the terminal.
  public let capabilities: Capabilities
  /// The size of the screen at the last call of ``updateSize()``, ``suspend()`` or ``reclaim()``.
  public private(set) var size: Size

  private let keepsLastGrid: Bool
  private var palette: Palette
  private let heldErrors: Int32
  private var decoder: KeyDecoder
  /// The last grid that was shown; `nil` before the first one.
  private var shown: Grid?
  /// Whether the next ``present(_:)`` writes all rows, because the screen may show other contents or other colors than
  /// the last grid.
  private var mustWriteAll = false
  private var row: [cncurses_cell] = []

  /// Opens the controlling terminal of the process.
  ///
  /// - Throws: ``TerminalError`` if the process has no terminal, or if the terminal cannot show a grid.
  public init(_ options: Options = Options()) throws(TerminalError) {
    let descriptor = cmonitor_open_terminal()
    guard descriptor >= 0 else { throw TerminalError(.notATerminal) }
    try self.init(owning: descriptor, type: nil, options: options)
  }

  /// Checks that the controlling terminal of the process can show a grid. The terminal does not change. Call this
  /// method before a `Terminal` is open.
  ///
  /// - Throws: ``TerminalError`` if the process has no terminal, or if the terminal cannot show a grid.
  public static func check() throws(TerminalError) {
    let descriptor = cmonitor_open_terminal()
    guard descriptor >= 0 else { throw TerminalError(.notATerminal) }
    defer { cmonitor_close(descriptor) }
    let status = cncurses_check_terminal(descriptor, nil)
    guard status == CNCURSES_OPENED else {
      throw TerminalError(status, type: cmonitor_environment("TERM").map { String(cString: $0) })
    }
  }

  /// Opens a terminal by its descriptor, and closes the descriptor when the terminal is closed or when the
  /// initializer throws.
  ///
  /// - Parameters:
  ///   - descriptor: A descriptor that is open for reading and writing.
  ///   - type: The terminal's type; `nil` for the type in the environment.
  ///   - options: The characters and colors to use.
  /// - Throws: ``TerminalError`` if the descriptor is not a terminal, or if the terminal cannot show a grid.
  package init(owning descriptor: Int32, type: String?, options: Options) throws(TerminalError) {
    // If standard error is a terminal, text that the process writes to standard error would spoil the screen.
    let heldErrors =
      cmonitor_is_terminal(cmonitor_standard_error)
      ? cmonitor_memory_file("standard error", 1 << 20) : -1
    let status = cncurses_open(
      descriptor, type, options.characters.choice, options.usesColor, heldErrors)
    guard status == CNCURSES_OPENED else {
      if heldErrors >= 0 { cmonitor_close(heldErrors) }
      cmonitor_close(descriptor)
      throw TerminalError(
        status, type: type ?? cmonitor_environment("TERM").map { String(cString: $0) })
    }
    let colors = Capabilities.Colors(count: Int(cncurses_colors()))
    self.descriptor = descriptor
    self.heldErrors = heldErrors
    keepsLastGrid = options.keepsLastGrid
    capabilities = Capabilities(isUnicode: cncurses_is_unicode(), colors: colors)
    palette = Palette(colors: colors, theme: options.theme)
    decoder = KeyDecoder(terminalKeys: KeySequence.ofOpenTerminal())
    size = Self.currentSize
  }

  deinit {
    if cncurses_close(), keepsLastGrid, let shown {
      var text = shown.printable(isUnicode: capabilities.isUnicode)
      // If the terminal disappears during the call, the rest of the text is discarded.
      _ = text.withUTF8 { cmonitor_write_all(descriptor, $0.baseAddress, $0.count, false) }
    }
    if heldErrors >= 0 { cmonitor_close(heldErrors) }
    cmonitor_close(descriptor)
  }

  /// Restores the terminal, and prints the text that was held back.
  public consuming func close() {}

  /// Restores the terminal immediately, with bytes that were prepared when the terminal was opened.
  ///
  /// Call this function if the process ends while the thread that owns the terminal does not answer. Any
  /// thread may call the function. If no terminal is open, the function does nothing.
  public static func restoreNow() { cncurses_restore_now() }

  /// Shows a grid. Only the differences from the previous grid are written; nothing is written if both grids
  /// are equal. Cells beyond the screen are cut, and cells that the grid does not have are blank.
  public mutating func present(_ grid: Grid) {
    guard mustWriteAll || shown != grid else { return }
    for index in 0..<size.rows {
      guard index < grid.size.rows else {
        cncurses_put_row(Int32(index), nil, 0)
        continue
      }
      if !mustWriteAll, let shown, shown.size == grid.size, shown.row(index) == grid.row(index) {
        continue
      }
      row.removeAll(keepingCapacity: true)
      for cell in grid.row(index) { row.append(drawn(cell)) }
      cncurses_put_row(Int32(index), row, row.count)
    }
    cncurses_show()
    shown = grid
    mustWriteAll = false
  }

  /// Draws with the colors of a theme from now on. The next ``present(_:)`` writes the cells whose colors change.
  public mutating func setTheme(_ theme: Theme) {
    palette = Palette(colors: capabilities.colors, theme: theme)
    mustWriteAll = true
  }

  /// Makes the next ``present(_:)`` write the whole screen.
  public mutating func repaintAll() {
    mustWriteAll = true
    cncurses_repaint()
  }

  /// Reads the terminal's size, which may have changed, and repaints the whole screen.
  public mutating func updateSize() {
    cncurses_update_size()
    mustWriteAll = true
    size = Self.currentSize
  }

  /// Rings the bell.
  public func ringBell() { cncurses_bell() }

  /// Makes the terminal report the mouse, or no longer report it. Restoring the terminal also ends the reports.
  public mutating func setMouse(_ isOn: Bool) { cncurses_report_mouse(isOn) }

  /// Sends a text to the terminal's clipboard with OSC 52. Control characters are removed, and a text that is too long
  /// for terminals is cut. The terminal does not confirm that it has accepted the text.
  public func copy(_ text: String) { cncurses_write(ClipboardText.sequence(for: text)) }

  /// Restores the terminal, and stops the process. When its shell continues the process, takes over the
  /// terminal again. The terminal may then have another size.
  public mutating func suspend() {
    cncurses_leave()
    cmonitor_stop()
    takeAgain()
  }

  /// Sets up the terminal again after this process was stopped and continued, because another program may
  /// have used the terminal while this process was stopped.
  public mutating func reclaim() {
    cncurses_leave()
    takeAgain()
  }

  private mutating func takeAgain() {
    cncurses_enter()
    mustWriteAll = true
    size = Self.currentSize
  }

  /// How long the caller waits for more bytes before it calls ``expireInput()``; `nil` if no key sequence, paste
  /// or report of the mouse is incomplete.
  public var inputPatience: Duration? { decoder.patience }

  /// Reads the keys that have arrived. Call this method only when ``descriptor`` is readable; otherwise the
  /// method blocks.
  public mutating func readInput() -> Reading {
    var count = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, filled in
      count = cmonitor_read(descriptor, buffer.baseAddress, buffer.count)
      filled = max(0, count)
    }
    // If reading fails with an error other than EAGAIN, the other side of the terminal has hung up.
    if -count == cmonitor_error_try_again { return .inputs([]) }
    return count > 0 ? .inputs(decoder.consume(bytes)) : .gone
  }

  /// Decodes the pending bytes without waiting for more bytes. A pending ESC byte becomes the Escape key. Read
  /// ``inputPatience`` again after the call.
  public mutating func expireInput() -> [Input] { decoder.expire() }

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
  /// Creates the number of colors to use on a terminal with `count` colors: the largest of the supported
  /// numbers (256, 16, 8 or none) that is at most `count`.
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
