// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import JobFiles
import MonitorProtocol

/// The contents of the settings file: a mapping of keys to values. It keeps keys that this version does not know.
struct SettingsTree: Equatable {
  /// A mistake that does not prevent the use of the other values.
  struct Mistake: Equatable {
    /// The line of the mistake; the first line is 1.
    let line: Int
    /// The words for the ignored part, such as `unknown key "color"`.
    let words: String
    /// The advice after the sentence; empty, or it begins with a semicolon.
    var advice = ""
  }

  private var entries: [JobFileNode.Entry]

  /// Reads the text of a file.
  ///
  /// - Throws: `JobFileMistake` if the text is not YAML, or is not a mapping.
  init(_ text: String) throws(JobFileMistake) {
    switch try YAMLReader.tree(of: text, "the file")?.content {
    case nil, .text("", isQuoted: false): entries = []
    case .mapping(let entries): self.entries = entries
    case .text, .list: throw JobFileMistake(1, "the file has no keys")
    }
  }

  // MARK: Reading

  /// Returns the settings of the file, and the mistakes in it. A key that is missing or has a mistake has its default.
  func settings() -> (settings: DashboardSettings, mistakes: [Mistake]) {
    var settings = DashboardSettings()
    var mistakes: [Mistake] = []
    for entry in entries {
      if let key = DashboardSettings.Key(rawValue: entry.key) {
        Self.read(entry.value, of: key, into: &settings, &mistakes)
      } else {
        let names = DashboardSettings.Key.allCases.map(\.rawValue)
        mistakes.append(
          Mistake(
            line: entry.line, words: "unknown key \(entry.key.quoted)",
            advice: .advice(entry.key, names, "keys")))
      }
    }
    return (settings, mistakes.sorted { $0.line < $1.line })
  }

  private static func read(
    _ node: JobFileNode, of key: DashboardSettings.Key, into settings: inout DashboardSettings,
    _ mistakes: inout [Mistake]
  ) {
    if key == .columns {
      settings.columns = columns(node, &mistakes)
      return
    }
    guard case .text(let text, let isQuoted) = node.content else {
      mistakes.append(
        Mistake(
          line: node.line, words: "the value of \(key.rawValue)",
          advice: "; it must be \(key == .filter ? "a text" : "one word")"))
      return
    }
    func take<Value>(_ value: Value?, _ names: [String], _ set: (Value) -> Void) {
      if let value { return set(value) }
      mistakes.append(
        Mistake(
          line: node.line, words: "the value \(text.quoted) of \(key.rawValue)",
          advice: .advice(text, names, "values", limit: names.count)))
    }
    switch key {
    case .view:
      take(DashboardSettings.View(rawValue: text), DashboardSettings.View.allCases.map(\.rawValue))
      {
        settings.view = $0
      }
    case .sort:
      take(SortOrder(settingName: text), SortOrder.settingNames) { settings.order = $0 }
    case .filter:
      guard text.contains(where: { $0 != " " }), isQuoted || !["~", "null"].contains(text) else {
        return
      }
      do throws(OperationFilterError) {
        settings.filter = try OperationFilter(text)
      } catch {
        mistakes.append(
          Mistake(line: node.line, words: "the filter \(text.quoted)", advice: "; \(error)"))
      }
    case .refresh: take(RefreshRate(name: text), RefreshRate.names) { settings.refresh = $0 }
    case .theme:
      take(Theme(rawValue: text), Theme.allCases.map(\.rawValue)) { settings.theme = $0 }
    case .mouse: take(truth(text), ["true", "false"]) { settings.usesMouse = $0 }
    case .bell: take(truth(text), ["true", "false"]) { settings.ringsBell = $0 }
    case .columns: break
    }
  }

  /// Returns the truth value of a word of YAML 1.1 or 1.2; `nil` if the word is not one.
  private static func truth(_ word: String) -> Bool? {
    switch word.lowercased() {
    case "true", "yes", "on": true
    case "false", "no", "off": false
    default: nil
    }
  }

  /// Returns the columns of a list; `nil` if the dashboard chooses the columns.
  private static func columns(
    _ node: JobFileNode, _ mistakes: inout [Mistake]
  ) -> [ColumnSetting]? {
    if case .text("auto", _) = node.content { return nil }
    guard case .list(let elements) = node.content else {
      mistakes.append(
        Mistake(line: node.line, words: "the value of columns", advice: "; it must be a list"))
      return nil
    }
    var columns: [ColumnSetting] = []
    for element in elements {
      guard let column = column(element, &mistakes) else { continue }
      if columns.contains(where: { $0.column == column.column }) {
        mistakes.append(
          Mistake(line: element.line, words: "the repeated column \(column.column.rawValue)"))
      } else {
        columns.append(column)
      }
    }
    return columns.isEmpty ? nil : columns
  }

  /// Returns the column of an element, which is a name, or a mapping of a name to a width.
  private static func column(
    _ node: JobFileNode, _ mistakes: inout [Mistake]
  ) -> ColumnSetting? {
    let name: String
    var width: JobFileNode?
    switch node.content {
    case .text(let text, _): name = text
    case .mapping(let entries) where entries.count == 1:
      (name, width) = (entries[0].key, entries[0].value)
    case .mapping, .list:
      mistakes.append(
        Mistake(line: node.line, words: "a column", advice: "; write it as NAME or NAME: WIDTH"))
      return nil
    }
    guard let column = ColumnSetting.Column(rawValue: name) else {
      let names = ColumnSetting.Column.allCases.map(\.rawValue)
      mistakes.append(
        Mistake(
          line: node.line, words: "unknown column \(name.quoted)",
          advice: .advice(name, names, "columns", limit: names.count)))
      return nil
    }
    guard let width else { return ColumnSetting(column) }
    if case .text(let text, _) = width.content {
      if text == "auto" { return ColumnSetting(column) }
      if let cells = Int(text), ColumnSetting.widths.contains(cells) {
        return ColumnSetting(column, width: cells)
      }
    }
    let widths = ColumnSetting.widths
    mistakes.append(
      Mistake(
        line: width.line, words: "the width of \(name)",
        advice: "; it must be from \(widths.lowerBound) to \(widths.upperBound)"))
    return ColumnSetting(column)
  }

  // MARK: Writing

  /// Changes the values of these keys to those of the settings. A key whose value is the absence of a filter or the
  /// automatic choice of columns is removed.
  mutating func set(_ keys: Set<DashboardSettings.Key>, of settings: DashboardSettings) {
    for key in DashboardSettings.Key.allCases where keys.contains(key) {
      let index = entries.firstIndex { $0.key == key.rawValue }
      guard let value = Self.node(key, settings) else {
        if let index { entries.remove(at: index) }
        continue
      }
      let entry = JobFileNode.Entry(key: key.rawValue, line: 0, value: value)
      if let index { entries[index] = entry } else { entries.append(entry) }
    }
  }

  /// Returns the text of a file with these contents.
  ///
  /// - Throws: `YAMLWriter.Failure` if a text cannot be represented.
  func text() throws(YAMLWriter.Failure) -> String {
    entries.isEmpty ? "" : try YAMLWriter.text(of: JobFileNode(0, .mapping(entries)))
  }

  /// Returns the value of a key; `nil` if the file needs no value.
  private static func node(
    _ key: DashboardSettings.Key, _ settings: DashboardSettings
  ) -> JobFileNode? {
    func text(_ text: String, isQuoted: Bool = false) -> JobFileNode {
      JobFileNode(0, .text(text, isQuoted: isQuoted))
    }
    switch key {
    case .view: return text(settings.view.rawValue)
    case .sort: return text(settings.order.settingName)
    case .filter: return settings.filter.map { text($0.text, isQuoted: true) }
    case .refresh: return text(settings.refresh.name)
    case .theme: return text(settings.theme.rawValue)
    case .mouse: return text("\(settings.usesMouse)")
    case .bell: return text("\(settings.ringsBell)")
    case .columns:
      return settings.columns.map { columns in
        JobFileNode(
          0,
          .list(
            columns.map { column in
              let name = column.column.rawValue
              guard let width = column.width else { return text(name) }
              let entry = JobFileNode.Entry(key: name, line: 0, value: text("\(width)"))
              return JobFileNode(0, .mapping([entry]))
            }))
      }
    }
  }
}
