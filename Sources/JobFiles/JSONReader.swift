// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Reads a job file that is written in JSON (RFC 8259).
///
/// The reader knows the line of each value and refuses repeated keys, unlike the parser of Foundation.
struct JSONReader {
  private let bytes: [UInt8]
  private var position = 0
  private var line = 1

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  /// Returns the tree of a file, which must be valid UTF-8; `nil` if the file has no content.
  static func tree(of bytes: [UInt8]) throws(JobFileMistake) -> JobFileNode? {
    var reader = JSONReader(bytes)
    reader.skipSpace()
    guard reader.next != nil else { return nil }
    let tree = try reader.readValue(depth: 0)
    reader.skipSpace()
    guard reader.next == nil else { throw reader.mistake("text follows the value of the file") }
    return tree
  }

  /// The next byte; `nil` at the end of the file.
  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private func mistake(_ problem: String) -> JobFileMistake {
    JobFileMistake(line, "the file is not JSON: \(problem)")
  }

  private mutating func skipSpace() {
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\n"): line += 1
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): break
      default: return
      }
      position += 1
    }
  }

  /// Skips a byte if it is the next one. Returns whether it is.
  private mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func readValue(depth: Int) throws(JobFileMistake) -> JobFileNode {
    guard depth <= JobFileNode.deepest else { throw .tooDeep(line) }
    skipSpace()
    let first = line
    switch next {
    case UInt8(ascii: "{"): return try readObject(depth: depth)
    case UInt8(ascii: "["): return try readArray(depth: depth)
    case UInt8(ascii: "\""): return JobFileNode(first, .text(try readString(), isQuoted: true))
    case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")):
      return JobFileNode(first, .text(try readNumber(), isQuoted: false))
    case nil: throw mistake("a value is missing at the end")
    default: return try readWord()
    }
  }

  private mutating func readObject(depth: Int) throws(JobFileMistake) -> JobFileNode {
    let first = line
    var entries: [JobFileNode.Entry] = []
    var lines: [String: Int] = [:]
    position += 1
    skipSpace()
    if skip("}") { return JobFileNode(first, .mapping([])) }
    repeat {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw mistake("a key in quotation marks is missing") }
      let keyLine = line
      let key = try readString()
      if let other = lines.updateValue(keyLine, forKey: key) { throw .repeated(key, other) }
      skipSpace()
      guard skip(":") else { throw mistake("a \":\" is missing after the key \(key.quoted)") }
      let value = try readValue(depth: depth + 1)
      entries.append(JobFileNode.Entry(key: key, line: keyLine, value: value))
      skipSpace()
    } while skip(",")
    guard skip("}") else { throw mistake("a \",\" or a \"}\" is missing") }
    return JobFileNode(first, .mapping(entries))
  }

  private mutating func readArray(depth: Int) throws(JobFileMistake) -> JobFileNode {
    let first = line
    var elements: [JobFileNode] = []
    position += 1
    skipSpace()
    if skip("]") { return JobFileNode(first, .list([])) }
    repeat {
      elements.append(try readValue(depth: depth + 1))
      skipSpace()
    } while skip(",")
    guard skip("]") else { throw mistake("a \",\" or a \"]\" is missing") }
    return JobFileNode(first, .list(elements))
  }

  private mutating func readWord() throws(JobFileMistake) -> JobFileNode {
    let word = bytes[position...].prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
    position += word.count
    switch String(decoding: word.prefix(6), as: UTF8.self) {
    case "true": return JobFileNode(line, .text("true", isQuoted: false))
    case "false": return JobFileNode(line, .text("false", isQuoted: false))
    case "null": throw JobFileMistake(line, "a job file cannot have the value null")
    default: throw mistake("a value is missing or is not in quotation marks")
    }
  }

  private mutating func readNumber() throws(JobFileMistake) -> String {
    let first = position
    _ = skip("-")
    if !skip("0") { try readDigits() }
    if skip(".") { try readDigits() }
    if skip("e") || skip("E") {
      if !skip("+") { _ = skip("-") }
      try readDigits()
    }
    if let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
      throw mistake("a number begins with 0")
    }
    return String(decoding: bytes[first..<position], as: UTF8.self)
  }

  private mutating func readDigits() throws(JobFileMistake) {
    let digits = bytes[position...].prefix {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
    }
    guard !digits.isEmpty else { throw mistake("a digit is missing in a number") }
    position += digits.count
  }
}

extension JSONReader {
  /// Reads a string. The next byte is its first quotation mark.
  private mutating func readString() throws(JobFileMistake) -> String {
    position += 1
    var text: [UInt8] = []
    while let byte = next {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"): text.append(contentsOf: String(try readEscape()).utf8)
      case ..<0x20:
        throw mistake("a string has a line break or another control character")
      default: text.append(byte)
      }
    }
    throw mistake("a quotation mark is missing at the end")
  }

  /// Reads an escape sequence after its backslash.
  private mutating func readEscape() throws(JobFileMistake) -> Unicode.Scalar {
    guard let byte = next else { throw mistake("a quotation mark is missing at the end") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try readScalar()
    default: throw mistake("a string has an unknown escape sequence")
    }
  }

  /// Reads the digits of an escape sequence `\uNNNN`, and the second half of a surrogate pair.
  private mutating func readScalar() throws(JobFileMistake) -> Unicode.Scalar {
    let first = try readCodeUnit()
    if let scalar = Unicode.Scalar(first) { return scalar }
    if (0xD800..<0xDC00).contains(first), skip("\\"), skip("u") {
      let second = try readCodeUnit()
      if (0xDC00..<0xE000).contains(second),
        let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
      {
        return scalar
      }
    }
    throw mistake("a string has half of a surrogate pair")
  }

  private mutating func readCodeUnit() throws(JobFileMistake) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw mistake("an escape sequence \\u does not have four digits")
      }
      unit = unit << 4 | UInt32(digit)
      position += 1
    }
    return unit
  }
}
