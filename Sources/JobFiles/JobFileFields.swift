// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The values of a mapping whose keys are fixed.
struct JobFileFields {
  /// The mapping as it appears in messages, such as `the job "fetch"`.
  let owner: String
  private let entries: [String: JobFileNode.Entry]

  /// Checks that a value is a mapping that has no other keys than those of the section.
  init(_ node: JobFileNode, _ section: JobFileSection, owner: String) throws(JobFileMistake) {
    self.owner = owner
    let names = section.keys.map(\.name)
    var entries: [String: JobFileNode.Entry] = [:]
    for entry in try node.entries(of: owner) {
      guard names.contains(entry.key) else {
        throw JobFileMistake(
          entry.line,
          "\(owner) has the unknown key \(entry.key.quoted)" + .advice(entry.key, names, "keys"))
      }
      entries[entry.key] = entry
    }
    self.entries = entries
  }

  /// The key and its owner as they appear in messages.
  private func title(_ key: JobFileKey) -> String { "\(key.name.quoted) of \(owner)" }

  /// Returns the value of a key; `nil` if the mapping does not have the key.
  func node(_ key: JobFileKey) -> JobFileNode? { entries[key.name]?.value }

  /// Returns the entries of the mapping that is the value of a key; none if the key is missing.
  func entries(_ key: JobFileKey) throws(JobFileMistake) -> [JobFileNode.Entry] {
    try node(key)?.entries(of: title(key)) ?? []
  }

  /// Returns the text that is the value of a key, with its line; `nil` if the key is missing.
  func text(_ key: JobFileKey) throws(JobFileMistake) -> (text: String, line: Int)? {
    guard let node = node(key) else { return nil }
    let text = try node.text(of: title(key))
    guard !text.allSatisfy(\.isWhitespace) else {
      throw JobFileMistake(node.line, "\(title(key)) is empty")
    }
    return (text, node.line)
  }

  /// Returns the list of texts that is the value of a key, with their lines; empty if the key is missing.
  func texts(_ key: JobFileKey) throws(JobFileMistake) -> [(text: String, line: Int)] {
    guard let node = node(key) else { return [] }
    return try node.texts(of: title(key))
  }

  /// Returns the value of a key of the kind `.duration`; `nil` if the key is missing.
  func duration(_ key: JobFileKey) throws(JobFileMistake) -> Duration? {
    guard case .duration(let allowsZero) = key.kind, let (text, line) = try text(key) else {
      return nil
    }
    switch DurationText.duration(text) {
    case .success(.zero) where !allowsZero:
      throw JobFileMistake(line, "\(title(key)) must be longer than 0")
    case .success(let duration): return duration
    case .failure(.noUnit):
      throw JobFileMistake(
        line,
        "\(title(key)) is \(text.quoted), which has no unit; write \("\(text)s".quoted) for seconds"
      )
    case .failure(.tooLong):
      throw JobFileMistake(line, "\(title(key)) is \(text.quoted), which is more than 100 years")
    case .failure(.noDuration):
      throw JobFileMistake(
        line,
        "\(title(key)) is \(text.quoted), which is not a duration such as 500ms, 1.5s, 5m, 2h or 1d"
      )
    }
  }

  /// Returns the value of a key of the kind `.integer`; `nil` if the key is missing.
  func integer(_ key: JobFileKey) throws(JobFileMistake) -> Int? {
    guard case .integer(let range) = key.kind, let node = node(key) else { return nil }
    if case .text(let text, isQuoted: false) = node.content,
      text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let number = Int(text), range.contains(number)
    {
      return number
    }
    throw JobFileMistake(
      node.line,
      "\(title(key)) must be a whole number from \(range.lowerBound) to \(range.upperBound)")
  }

  /// Returns the value of a key of the kind `.boolean`; `nil` if the key is missing.
  func boolean(_ key: JobFileKey) throws(JobFileMistake) -> Bool? {
    guard let node = node(key) else { return nil }
    switch node.content {
    case .text("true", isQuoted: false): return true
    case .text("false", isQuoted: false): return false
    case .text, .list, .mapping:
      throw JobFileMistake(node.line, "\(title(key)) must be true or false")
    }
  }

  /// Returns the value of a key of the kind `.choice`; `nil` if the key is missing.
  func choice<Choice: RawRepresentable<String>>(
    _ key: JobFileKey, _ type: Choice.Type
  ) throws(JobFileMistake) -> Choice? {
    guard case .choice(let names) = key.kind, let (text, line) = try text(key) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      throw JobFileMistake(
        line,
        "\(title(key)) is \(text.quoted), which is not a value of it"
          + .advice(text, names, "values"))
    }
    return choice
  }
}

extension JobFileNode {
  /// Returns the entries of a mapping.
  func entries(of title: String) throws(JobFileMistake) -> [Entry] {
    guard case .mapping(let entries) = content else {
      throw JobFileMistake(line, "\(title) must be a mapping of keys to values")
    }
    return entries
  }

  /// Returns a text without null characters, which neither commands nor variables can contain.
  func text(of title: String) throws(JobFileMistake) -> String {
    guard case .text(let text, _) = content else {
      throw JobFileMistake(line, "\(title) must be a text")
    }
    guard !text.utf8.contains(0) else {
      throw JobFileMistake(line, "\(title) has a null character")
    }
    return text
  }

  /// Returns the texts of a list, with their lines.
  func texts(of title: String) throws(JobFileMistake) -> [(text: String, line: Int)] {
    guard case .list(let elements) = content else {
      throw JobFileMistake(line, "\(title) must be a list")
    }
    var texts: [(text: String, line: Int)] = []
    for element in elements {
      texts.append((try element.text(of: "each element of \(title)"), element.line))
    }
    return texts
  }
}
