// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard

/// Decodes key presses and pasted text from the bytes that a terminal sends.
///
/// A decoder reads neither a clock nor a descriptor. The terminal passes the received bytes to the decoder,
/// and calls ``expire()`` if no other byte arrives within ``patience``. Until then, an ESC byte may be the
/// beginning of a longer sequence. When ``expire()`` is called, a pending ESC byte is the Escape key.
struct KeyDecoder {
  /// The meaning of the next bytes in the buffer.
  private enum Reading {
    /// The next `length` bytes from the terminal encode this key press. If the value is `nil`, they encode no
    /// known key and are ignored.
    case input(Input?, length: Int)
    /// The bytes are the beginning of a longer sequence.
    case incomplete
    /// The next `length` bytes begin a paste: pasted text follows them.
    case pasteBegins(length: Int)
  }

  /// The maximum length of pasted text in bytes. Longer text is cut.
  static let longestPaste = 64 * 1024
  /// The maximum length of a control sequence in bytes. A longer sequence is invalid.
  private static let longestSequence = 64
  /// The first bytes of a report of the mouse.
  private static let mouseStart = Array("\u{1B}[<".utf8)

  /// The bytes that have arrived and are not decoded.
  private var buffer: [UInt8] = []
  /// The text of a paste that has begun but not ended; `nil` outside a paste.
  private var paste: [UInt8]?
  /// Whether the decoder has discarded the beginning of a report of the mouse, and its end has not arrived. If the end
  /// does not arrive, ``expire()`` ends the wait for it.
  private var isInLostReport = false
  /// The bytes that ``expire()`` has decoded as a key, if they can also be the beginning of a report of the mouse whose
  /// rest is late; otherwise empty.
  private var expiredStart: [UInt8] = []
  /// The key sequences that the terminal's description (terminfo) names and that this decoder does not know
  /// otherwise.
  private let additions: [(bytes: [UInt8], input: Input)]

  /// Creates a decoder.
  ///
  /// - Parameter terminalKeys: The key sequences that the terminal's description names. The decoder ignores
  ///   sequences that do not begin with ESC, and sequences that it decodes to the same key without this list.
  init(terminalKeys: [(bytes: [UInt8], input: Input)] = []) {
    additions = terminalKeys.filter { key in
      guard key.bytes.count > 1, key.bytes[0] == 0x1B else { return false }
      var plain = KeyDecoder(additions: [])
      return plain.consume(key.bytes) != [key.input]
    }
  }

  private init(additions: [(bytes: [UInt8], input: Input)]) { self.additions = additions }

  /// How long the terminal waits for more bytes before it calls ``expire()``; `nil` if no bytes are expected.
  ///
  /// During a paste and a report of the mouse, the wait is longer, because a terminal that works always sends their
  /// ends.
  var patience: Duration? {
    if paste != nil || isInLostReport || beginsMouseReport(at: 0) { return .seconds(1) }
    return buffer.isEmpty ? nil : .milliseconds(25)
  }

  /// Returns whether the bytes at an index are the beginning of a report of the mouse.
  private func beginsMouseReport(at start: Int) -> Bool {
    buffer[start...].starts(with: Self.mouseStart)
  }

  /// Adds received bytes, and returns the keys that are now complete, in order.
  mutating func consume(_ bytes: some Sequence<UInt8>) -> [Input] {
    buffer.append(contentsOf: bytes)
    guard discardLateReport() else { return [] }
    return decode(isComplete: false)
  }

  /// If the buffer continues a report of the mouse whose beginning was decoded as a key, discards this part of the
  /// buffer. Returns `false` if more bytes are necessary to recognize such a report.
  private mutating func discardLateReport() -> Bool {
    guard !expiredStart.isEmpty, paste == nil, !buffer.isEmpty else { return true }
    let rest = Self.mouseStart.dropFirst(expiredStart.count)
    if buffer.count < rest.count, rest.starts(with: buffer) { return false }
    expiredStart = []
    if buffer.starts(with: rest) {
      buffer.removeFirst(rest.count)
      isInLostReport = true
    }
    return true
  }

  /// Returns the index after the rest of a report of the mouse whose beginning was discarded. The rest does not become
  /// keys.
  private mutating func endOfLostReport(from start: Int) -> Int {
    let end = buffer[start...].firstIndex { !(0x20...0x3F).contains($0) }
    guard let end else { return buffer.count }
    isInLostReport = false
    let isEnd = buffer[end] == UInt8(ascii: "M") || buffer[end] == UInt8(ascii: "m")
    return isEnd ? end + 1 : end
  }

  /// Decodes the pending bytes without waiting for more bytes, and returns their keys. The terminal calls
  /// this function if no other byte has arrived within ``patience``. Then the rest of a
  /// report of the mouse can still arrive, so the terminal reads ``patience`` again.
  mutating func expire() -> [Input] {
    let isLost = paste == nil && beginsMouseReport(at: 0)
    let isStart = paste == nil && Self.mouseStart.dropLast().starts(with: buffer)
    expiredStart = isStart ? buffer : []
    var inputs = decode(isComplete: true)
    if let text = paste {
      paste = nil
      inputs.append(.paste(String(decoding: text + buffer, as: UTF8.self)))
    }
    buffer.removeAll()
    isInLostReport = isLost
    return inputs
  }

  private mutating func decode(isComplete: Bool) -> [Input] {
    var inputs: [Input] = []
    var start = 0
    while start < buffer.count {
      if paste != nil {
        guard let end = takePaste(from: start, into: &inputs) else { return inputs }
        start = end
        continue
      }
      if isInLostReport {
        start = endOfLostReport(from: start)
        continue
      }
      switch read(at: start, isComplete: isComplete) {
      case .input(let input, let length):
        if let input { inputs.append(input) }
        isInLostReport = length > Self.longestSequence && beginsMouseReport(at: start)
        start += length
      case .pasteBegins(let length):
        paste = []
        start += length
      case .incomplete:
        buffer.removeFirst(start)
        return inputs
      }
    }
    buffer.removeAll(keepingCapacity: true)
    return inputs
  }

  /// Moves pasted bytes from the buffer to the text of the paste. Returns the index after the end of the
  /// paste, or `nil` if the end has not arrived.
  private mutating func takePaste(from start: Int, into inputs: inout [Input]) -> Int? {
    let mark = Array("\u{1B}[201~".utf8)
    var text = paste ?? []
    defer { if text.count > Self.longestPaste { paste?.removeSubrange(Self.longestPaste...) } }
    for index in start..<buffer.count where buffer[index...].starts(with: mark) {
      text += buffer[start..<index]
      paste = nil
      inputs.append(.paste(String(decoding: text.prefix(Self.longestPaste), as: UTF8.self)))
      return index + mark.count
    }
    // The last bytes may be the beginning of the sequence that ends the paste, so they remain in the buffer.
    let kept = max(start, buffer.count - (mark.count - 1))
    text += buffer[start..<kept]
    paste = text
    buffer.removeFirst(kept)
    return nil
  }

  private func read(at start: Int, isComplete: Bool) -> Reading {
    let byte = buffer[start]
    switch byte {
    case 0x1B: return readEscape(at: start, isComplete: isComplete)
    case 0x09: return .input(.key(.tab), length: 1)
    case 0x0A, 0x0D: return .input(.key(.enter), length: 1)
    case 0x08, 0x7F: return .input(.key(.backspace), length: 1)
    case 0x00: return .input(.control(" "), length: 1)
    case 0x01...0x1A: return .input(.control(Unicode.Scalar(byte + 0x60)), length: 1)
    case 0x1C...0x1F: return .input(.control(Unicode.Scalar(byte + 0x40)), length: 1)
    default: return readCharacter(at: start, isComplete: isComplete) { .character($0) }
    }
  }

  private func readCharacter(
    at start: Int, isComplete: Bool, as input: (Unicode.Scalar) -> Input
  ) -> Reading {
    let length =
      switch buffer[start] {
      case ..<0x80: 1
      case 0xC2...0xDF: 2
      case 0xE0...0xEF: 3
      case 0xF0...0xF4: 4
      default: 0
      }
    guard length > 0 else { return .input(nil, length: 1) }
    let bytes = buffer[start...].prefix(length)
    guard bytes.dropFirst().allSatisfy({ $0 & 0xC0 == 0x80 }) else { return .input(nil, length: 1) }
    guard bytes.count == length else {
      return isComplete ? .input(nil, length: bytes.count) : .incomplete
    }
    guard let text = String(validating: bytes, as: UTF8.self),
      let scalar = text.unicodeScalars.first,
      scalar.properties.generalCategory != .control
    else { return .input(nil, length: length) }
    return .input(input(scalar), length: length)
  }

  private func readEscape(at start: Int, isComplete: Bool) -> Reading {
    let rest = buffer[start...]
    for addition in additions {
      if rest.starts(with: addition.bytes) {
        return .input(addition.input, length: addition.bytes.count)
      }
      if !isComplete, addition.bytes.starts(with: rest) { return .incomplete }
    }
    guard start + 1 < buffer.count else {
      return isComplete ? .input(.key(.escape), length: 1) : .incomplete
    }
    switch buffer[start + 1] {
    case UInt8(ascii: "["): return readControlSequence(at: start, isComplete: isComplete)
    case UInt8(ascii: "O"): return readSingleShift(at: start, isComplete: isComplete)
    case 0x00...0x1F, 0x7F: return .input(.key(.escape), length: 1)
    default:
      switch readCharacter(at: start + 1, isComplete: isComplete, as: { .alt($0) }) {
      case .input(let input, let length): return .input(input, length: length + 1)
      case .incomplete, .pasteBegins: return .incomplete
      }
    }
  }

  /// Reads ESC O and one character. Terminals send this sequence for cursor and keypad keys in application
  /// mode.
  private func readSingleShift(at start: Int, isComplete: Bool) -> Reading {
    guard start + 2 < buffer.count else {
      return isComplete ? .input(.alt("O"), length: 2) : .incomplete
    }
    // If the byte after ESC O cannot belong to the sequence, another sequence, such as that of a paste, has
    // interrupted it.
    guard (0x20...0x7E).contains(buffer[start + 2]) else { return .input(.alt("O"), length: 2) }
    return .input(KeySequence.singleShift(buffer[start + 2]), length: 3)
  }

  /// Reads a control sequence, which consists of ESC [, parameters, and a final character.
  private func readControlSequence(at start: Int, isComplete: Bool) -> Reading {
    // The Linux console sends ESC [ [ A to ESC [ [ E for the keys F1 to F5.
    let isConsole = start + 2 < buffer.count && buffer[start + 2] == UInt8(ascii: "[")
    var index = start + (isConsole ? 3 : 2)
    while index < buffer.count, (0x20...0x3F).contains(buffer[index]) {
      index += 1
      // A sequence that is longer than all known sequences is ignored.
      if index - start > Self.longestSequence { return .input(nil, length: index - start) }
    }
    guard index < buffer.count else {
      guard isComplete else { return .incomplete }
      return .input(index == start + 2 ? .alt("[") : nil, length: index - start)
    }
    let final = buffer[index]
    let length = index + 1 - start
    // If a byte cannot belong to a control sequence, the sequence is incomplete. The byte is then decoded
    // separately.
    guard (0x40...0x7E).contains(final) else { return .input(nil, length: length - 1) }
    if isConsole { return .input(KeySequence.console(final), length: length) }
    let parameters = buffer[(start + 2)..<index]
    if final == UInt8(ascii: "M"), parameters.isEmpty {
      // The sequence is a mouse report of the old kind, which the program did not request. Three bytes of any
      // value follow.
      guard isComplete || buffer.count - start >= 6 else { return .incomplete }
      return .input(nil, length: min(6, buffer.count - start))
    }
    if final == UInt8(ascii: "~"), parameters.elementsEqual("200".utf8) {
      return .pasteBegins(length: length)
    }
    return .input(KeySequence.control(final, parameters: parameters), length: length)
  }
}
