// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem

/// The contents of a terminal. It interprets the control sequences that ncurses sends to terminals
/// of the ANSI family.
///
/// The interpretation follows the standard and not the output of ncurses, so that tests can check
/// this output.
package struct VirtualScreen: Sendable {
  /// A character position on the screen.
  package struct Cell: Sendable, Hashable {
    /// The character with its marks; a space if the position is empty.
    package var text = " "
    /// The number of the character's color; `nil` for the terminal's default color.
    package var foreground: Int?
    /// Whether the character is bold.
    package var isBold = false
    /// Whether the character is dim.
    package var isDim = false
    /// Whether the character is underlined.
    package var isUnderlined = false
    /// Whether the foreground and background colors are exchanged.
    package var isReversed = false
    /// Whether the cell is the second half of the wide character to its left.
    package var isContinuation = false

    /// Creates a space in the terminal's default colors.
    package init() {}
  }

  /// The number of columns of the screen.
  package let columns: Int
  /// The number of rows of the screen.
  package let rows: Int
  /// The cells of the screen, row by row.
  package private(set) var cells: [Cell]
  /// Whether the alternate screen is shown.
  package private(set) var isAlternate = false
  /// Whether the cursor can be seen.
  package private(set) var isCursorVisible = true
  /// Whether the terminal marks the beginning and the end of pasted text.
  package private(set) var isPasteBracketed = false
  /// Whether the mode 1000 is on: the terminal reports the buttons of the mouse.
  private var reportsButtons = false
  /// Whether the mode 1006 is on: the coordinates in reports of the mouse have no limit.
  private var hasUnlimitedCoordinates = false
  /// The encoded texts that a program has sent to the clipboard, with OSC 52.
  package private(set) var copiedTexts: [String] = []
  /// The number of times that a program has rung the bell.
  package private(set) var bellCount = 0
  /// The received sequences that the interpreter does not know. Tests expect that there are none.
  package private(set) var unknownSequences: [String] = []

  private var row = 0
  /// The column of the cursor. After a character in the last column, it equals `columns`, and the
  /// next character begins a new line.
  private var column = 0
  private var style = Cell()
  private var top = 0
  private var bottom: Int
  private var lastText = " "
  private var pending: [UInt8] = []

  /// Creates an empty screen.
  package init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
    bottom = rows - 1
    cells = Array(repeating: Cell(), count: columns * rows)
  }

  /// Whether the terminal reports the buttons of the mouse, in the form whose coordinates have no limit.
  package var isMouseReported: Bool { reportsButtons && hasUnlimitedCoordinates }

  /// Whether all modes of the mouse are off.
  package var isMouseOff: Bool { !reportsButtons && !hasUnlimitedCoordinates }

  /// The text of each row, without trailing spaces.
  package var lines: [String] { (0..<rows).map(line) }

  /// Returns the text of one row, without trailing spaces.
  package func line(_ row: Int) -> String {
    var line = ""
    var spaceCount = 0
    // Tests read the rows after each change, so this loop must be fast.
    for index in row * columns..<(row + 1) * columns {
      let text = cells[index].text
      if text == " " {
        spaceCount += 1
        continue
      }
      if spaceCount > 0 { line += String(repeating: " ", count: spaceCount) }
      spaceCount = 0
      line += text
    }
    return line
  }

  /// Returns whether a row is blank.
  package func isBlank(row: Int) -> Bool {
    cells[row * columns..<(row + 1) * columns].allSatisfy { $0.text == " " }
  }

  /// Returns whether a row contains a text.
  package func contains(_ text: String) -> Bool {
    (0..<rows).contains { line($0).contains(text) }
  }

  /// Interprets received bytes. A sequence may be split between two calls.
  package mutating func feed(_ bytes: some Sequence<UInt8>) {
    pending.append(contentsOf: bytes)
    var start = 0
    while start < pending.count, let length = interpret(at: start) { start += length }
    pending.removeFirst(start)
  }

  /// Interprets one character or sequence. Returns its number of bytes; `nil` if more bytes must be
  /// received.
  private mutating func interpret(at start: Int) -> Int? {
    let byte = pending[start]
    switch byte {
    case 0x1B: return interpretEscape(at: start)
    case 0x07: bellCount += 1
    case 0x08: column = max(0, min(column, columns - 1) - 1)
    case 0x09: column = min(columns - 1, (column / 8 + 1) * 8)
    case 0x0A: lineFeed()
    case 0x0D: column = 0
    case 0x00...0x1F, 0x7F: break
    default:
      let whole = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
      // If the program was interrupted, the bytes of a character may be incomplete. Then the next
      // byte begins another character.
      let rest = pending[(start + 1)...].prefix(whole - 1).prefix { $0 & 0xC0 == 0x80 }
      let length = 1 + rest.count
      guard length == whole || start + length < pending.count else { return nil }
      let text = String(decoding: pending[start..<start + length], as: UTF8.self)
      for scalar in text.unicodeScalars { put(scalar) }
      return length
    }
    return 1
  }

  private mutating func interpretEscape(at start: Int) -> Int? {
    guard start + 1 < pending.count else { return nil }
    if pending[start + 1] == 0x1B { return 1 }
    switch pending[start + 1] {
    case UInt8(ascii: "["):
      let parameters = pending[(start + 2)...].prefix { !(0x40...0x7E).contains($0) && $0 != 0x1B }
      guard parameters.endIndex < pending.count else { return nil }
      // The program was interrupted while it sent a sequence. The incomplete sequence ends here,
      // and another sequence begins.
      if pending[parameters.endIndex] == 0x1B { return parameters.endIndex - start }
      let sequence = ControlSequence(parameters: parameters, final: pending[parameters.endIndex])
      perform(sequence)
      return parameters.endIndex + 1 - start
    case UInt8(ascii: "]"):
      let text = pending[(start + 2)...].prefix { $0 != 0x07 && $0 != 0x1B }
      guard text.endIndex < pending.count else { return nil }
      if pending[text.endIndex] == 0x1B { return text.endIndex - start }
      performCommand(String(decoding: text, as: UTF8.self))
      return text.endIndex + 1 - start
    case UInt8(ascii: "("), UInt8(ascii: ")"):
      guard start + 2 < pending.count else { return nil }
      return pending[start + 2] == 0x1B ? 2 : 3
    case UInt8(ascii: "M"):
      if row == top { scroll(by: -1, from: top) } else { row = max(0, row - 1) }
    case UInt8(ascii: "="), UInt8(ascii: ">"), UInt8(ascii: "7"), UInt8(ascii: "8"):
      break
    default:
      unknownSequences.append("ESC \(Unicode.Scalar(pending[start + 1]))")
    }
    return 2
  }

  /// Performs an operating system command (OSC).
  private mutating func performCommand(_ text: String) {
    let clipboard = "52;c;"
    if text.hasPrefix(clipboard) {
      copiedTexts.append(String(text.dropFirst(clipboard.count)))
    } else {
      unknownSequences.append("OSC \(text)")
    }
  }

  private mutating func put(_ scalar: Unicode.Scalar) {
    let width = Int(cmonitor_character_width(scalar.value))
    guard width > 0 else {
      // A combining mark becomes a part of the previous cell. Other characters without a width are
      // ignored.
      guard width == 0, column > 0 else { return }
      var index = row * columns + column - 1
      if cells[index].isContinuation { index -= 1 }
      cells[index].text.unicodeScalars.append(scalar)
      return
    }
    write(String(scalar), width: width)
  }

  private mutating func write(_ text: String, width: Int) {
    if column + width > columns {
      column = 0
      lineFeed()
    }
    lastText = text
    var cell = style
    cell.text = text
    cells[row * columns + column] = cell
    if width == 2 {
      cell.text = ""
      cell.isContinuation = true
      cells[row * columns + column + 1] = cell
    }
    column += width
  }

  private mutating func lineFeed() {
    if row == bottom { scroll(by: 1, from: top) } else { row = min(rows - 1, row + 1) }
  }

  /// Moves the rows between `first` and the end of the scroll region up, or down if `count` is
  /// negative.
  private mutating func scroll(by count: Int, from first: Int) {
    guard first <= bottom else { return }
    let blank = Array(repeating: Cell(), count: columns)
    for _ in 0..<min(abs(count), bottom - first + 1) {
      let (removed, inserted) = count > 0 ? (first, bottom) : (bottom, first)
      cells.removeSubrange(removed * columns..<(removed + 1) * columns)
      cells.insert(contentsOf: blank, at: inserted * columns)
    }
  }

  private mutating func erase(_ range: Range<Int>) {
    for index in range { cells[index] = Cell() }
  }

  private mutating func perform(_ sequence: ControlSequence) {
    switch (sequence.marker, sequence.final) {
    case (nil, "m"): select(sequence.numbers)
    case ("?", "h"), ("?", "l"): setModes(sequence.numbers, to: sequence.final == "h")
    case (nil, "h"), (nil, "l"), (nil, "t"), ("?", "c"), (">", "c"): break
    case (nil, _):
      if !moveCursor(sequence) && !edit(sequence) { unknownSequences.append("\(sequence)") }
    default: unknownSequences.append("\(sequence)")
    }
  }

  private mutating func moveCursor(_ sequence: ControlSequence) -> Bool {
    let here = min(column, columns - 1)
    let count = sequence.count(0)
    switch sequence.final {
    case "A": row = max(0, row - count)
    case "B": row = min(rows - 1, row + count)
    case "C": column = min(columns - 1, here + count)
    case "D": column = max(0, here - count)
    case "G": column = min(columns, count) - 1
    case "d": row = min(rows, count) - 1
    case "H", "f":
      row = min(rows, count) - 1
      column = min(columns, sequence.count(1)) - 1
    case "r":
      top = count - 1
      bottom = min(rows, sequence.count(1, otherwise: rows)) - 1
      row = 0
      column = 0
    default: return false
    }
    return true
  }

  private mutating func edit(_ sequence: ControlSequence) -> Bool {
    let start = row * columns
    let here = start + min(column, columns - 1)
    let end = start + columns
    let count = sequence.count(0)
    switch sequence.final {
    case "J":
      erase(sequence.range(before: 0..<here + 1, after: here..<cells.count, all: 0..<cells.count))
    case "K": erase(sequence.range(before: start..<here + 1, after: here..<end, all: start..<end))
    case "X": erase(here..<min(end, here + count))
    case "P":
      let count = min(count, end - here)
      cells.removeSubrange(here..<here + count)
      cells.insert(contentsOf: repeatElement(Cell(), count: count), at: end - count)
    case "@":
      let count = min(count, end - here)
      cells.removeSubrange(end - count..<end)
      cells.insert(contentsOf: repeatElement(Cell(), count: count), at: here)
    case "L": scroll(by: -count, from: row)
    case "M": scroll(by: count, from: row)
    case "S": scroll(by: count, from: top)
    case "T": scroll(by: -count, from: top)
    case "b": for _ in 0..<count { write(lastText, width: 1) }
    default: return false
    }
    return true
  }

  private mutating func setModes(_ modes: [Int], to isOn: Bool) {
    for mode in modes {
      switch mode {
      case 25: isCursorVisible = isOn
      case 47, 1047, 1049:
        isAlternate = isOn
        if isOn { erase(0..<cells.count) }
      case 2004: isPasteBracketed = isOn
      case 1000: reportsButtons = isOn
      case 1006: hasUnlimitedCoordinates = isOn
      case 1, 3, 4, 5, 7, 12, 1034: break
      default: unknownSequences.append("mode \(mode)")
      }
    }
  }

  private mutating func select(_ numbers: [Int]) {
    var rest = numbers.isEmpty ? [0] : numbers[...]
    while let number = rest.popFirst() {
      switch number {
      case 0: style = Cell()
      case 1: style.isBold = true
      case 2: style.isDim = true
      case 4: style.isUnderlined = true
      case 7: style.isReversed = true
      case 22:
        style.isBold = false
        style.isDim = false
      case 24: style.isUnderlined = false
      case 27: style.isReversed = false
      case 30...37: style.foreground = number - 30
      case 90...97: style.foreground = number - 82
      case 39: style.foreground = nil
      case 38 where rest.first == 5 && rest.count >= 2:
        style.foreground = rest[rest.startIndex + 1]
        rest = rest.dropFirst(2)
      case 10, 49: break
      default: unknownSequences.append("SGR \(number)")
      }
    }
  }
}

/// A control sequence: ESC [, parameters, and a final character.
private struct ControlSequence: CustomStringConvertible {
  /// A character before the parameters, such as `?`.
  let marker: Character?
  /// The numbers of the parameters. An omitted parameter is 0.
  let numbers: [Int]
  let final: Character
  let description: String

  init(parameters: some Collection<UInt8>, final: UInt8) {
    let text = String(decoding: parameters, as: UTF8.self)
    self.final = Character(Unicode.Scalar(final))
    marker = text.first.flatMap { "<=>?".contains($0) ? $0 : nil }
    let list = marker == nil ? text[...] : text.dropFirst()
    numbers =
      list.isEmpty
      ? [] : list.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
    description = "CSI \(text)\(self.final)"
  }

  /// Returns a parameter that is a count or a position; 1, or another default, if the parameter is
  /// 0 or omitted.
  func count(_ index: Int, otherwise: Int = 1) -> Int {
    index < numbers.count && numbers[index] > 0 ? numbers[index] : otherwise
  }

  /// Returns the cells that a sequence erases. The first parameter of the sequence selects the
  /// cells after the cursor, the cells before it, or all cells.
  func range(before: Range<Int>, after: Range<Int>, all: Range<Int>) -> Range<Int> {
    switch numbers.first ?? 0 {
    case 0: after
    case 1: before
    default: all
    }
  }
}
