// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import JobFiles
import MonitorProtocol
import Testing

@testable import OpqTop

/// Tests of the contents of the settings file.
@Suite("The contents of the settings file")
struct SettingsTreeTests {
  private static func read(
    _ text: String
  ) throws -> (settings: DashboardSettings, mistakes: [SettingsTree.Mistake]) {
    try SettingsTree(text).settings()
  }

  /// Settings in which each value differs from the default.
  static var unusual: DashboardSettings {
    get throws {
      var settings = DashboardSettings()
      settings.view = .queues
      settings.order = SortOrder(by: .time, isReversed: true)
      settings.filter = try OperationFilter("state:exec \"two words\" !tile 漢字")
      settings.refresh = try #require(RefreshRate(name: "4/s"))
      settings.theme = .light
      settings.usesMouse = true
      settings.ringsBell = true
      settings.columns = [
        ColumnSetting(.id), ColumnSetting(.state, width: 12), ColumnSetting(.name),
        ColumnSetting(.error),
      ]
      return settings
    }
  }

  @Test("SF-2: each key of the file sets its value")
  func eachKeyHasItsValue() throws {
    let text = """
      view: queues
      sort: -age
      filter: 'state:exec "two words" !tile 漢字'
      refresh: 4/s
      theme: light
      mouse: yes
      bell: true
      columns:
        - id
        - state: 12
        - name
        - error: auto
      """
    let (settings, mistakes) = try Self.read(text)
    #expect(settings == (try Self.unusual))
    #expect(mistakes == [])
  }

  @Test("SF-2: each name of a view, an order, a rate, a theme and a column is a value")
  func eachNameIsAValue() throws {
    for view in DashboardSettings.View.allCases {
      #expect(try Self.read("view: \(view.rawValue)").settings.view == view)
    }
    for column in SortOrder.Column.allCases {
      #expect(
        try Self.read("sort: \(column.rawValue)").settings.order == SortOrder(by: column))
      #expect(
        try Self.read("sort: -\(column.rawValue)").settings.order
          == SortOrder(by: column, isReversed: true))
    }
    for name in RefreshRate.names {
      #expect(try Self.read("refresh: \(name)").settings.refresh.name == name)
    }
    for theme in Theme.allCases {
      #expect(try Self.read("theme: \(theme.rawValue)").settings.theme == theme)
    }
    for column in ColumnSetting.Column.allCases {
      let columns = try Self.read("columns: [\(column.rawValue)]").settings.columns
      #expect(columns?.first == ColumnSetting(column))
    }
  }

  @Test(
    "SF-2: an empty file, and values that mean the default, change nothing",
    arguments: [
      "", "# a comment\n", "---\n", "filter:", "filter: ''", "filter: ~", "columns: auto",
      "theme: auto", "mouse: off",
    ])
  func defaultsRemain(text: String) throws {
    let (settings, mistakes) = try Self.read(text)
    #expect(settings == DashboardSettings() && mistakes == [])
  }

  @Test(
    "SF-3: a mistake has a line and words, and the rest of the file is used",
    arguments: [
      ("colums: [id]", "unknown key \"colums\"", "; did you mean \"columns\"?"),
      ("view: lists", "the value \"lists\" of view", "; the values are \"operations\", "),
      ("view: [tree]", "the value of view", "; it must be one word"),
      ("filter: {a: b}", "the value of filter", "; it must be a text"),
      (
        "sort: nothing", "the value \"nothing\" of sort",
        "; the values are \"id\", \"state\", "
      ),
      ("refresh: 3/s", "the value \"3/s\" of refresh", "; did you mean "),
      ("theme: drk", "the value \"drk\" of theme", "; did you mean \"dark\"?"),
      ("bell: maybe", "the value \"maybe\" of bell", "; the values are \"true\", \"false\""),
      (
        "filter: state:sleeping", "the filter \"state:sleeping\"",
        "; state must be "
      ),
      ("columns: id", "the value of columns", "; it must be a list"),
      ("columns: [id, nam, name]", "unknown column \"nam\"", "; did you mean \"name\"?"),
      (
        "columns: [nothing]", "unknown column \"nothing\"",
        "; the columns are \"key\", \"id\", \"process\", "
      ),
      ("columns: [id, id, name]", "the repeated column id", ""),
      ("columns: [{id: 2}, name]", "the width of id", "; it must be from 3 to 60"),
      ("columns: [{id: x}, name]", "the width of id", "; it must be from 3 to 60"),
      ("columns: [id, [name]]", "a column", "; write it as NAME or NAME: WIDTH"),
      (
        "\"\\e[2J\": 1", "unknown key \"\\x1b[2J\"", ""
      ),
    ])
  func mistakesAreReported(line: String, words: String, advice: String) throws {
    let (settings, mistakes) = try Self.read("mouse: true\n\(line)\n")
    #expect(settings.usesMouse)
    let mistake = try #require(mistakes.first)
    #expect(mistakes.count == 1 && mistake.line == 2)
    #expect(mistake.words == words)
    #expect(advice.isEmpty || mistake.advice.hasPrefix(advice), "\(mistake.advice)")
  }

  @Test("SF-3: the columns without mistakes are used")
  func validColumnsAreUsed() throws {
    let columns = try Self.read("columns: [nam, {id: 99}, state, state]").settings.columns
    #expect(columns == [ColumnSetting(.id), ColumnSetting(.state), ColumnSetting(.name)])
    #expect(try Self.read("columns: [nam]").settings.columns == nil)
  }

  @Test(
    "SF-4: a text that is no mapping, or has anchors, is refused",
    arguments: [
      ("- view", "the file has no keys"), ("just text", "the file has no keys"),
      ("view: [", "the file is not YAML: "), ("view: a\nview: b", "is given twice"),
      ("a: &a [x]\nb: *a", "the file cannot have anchors and aliases"),
      ("a: 1\n---\nb: 1", "more than one YAML document"),
    ])
  func otherTextsAreRefused(text: String, words: String) {
    let mistake = #expect(throws: JobFileMistake.self) { try SettingsTree(text) }
    #expect(mistake?.message.contains(words) == true, "\(mistake?.message ?? "")")
  }

  @Test("SF-7: written settings are read as they were")
  func writtenSettingsAreReadAgain() throws {
    let settings = try Self.unusual
    var tree = try SettingsTree("")
    tree.set(Set(DashboardSettings.Key.allCases), of: settings)
    let text = try tree.text()
    #expect(
      text == """
        view: queues
        sort: -time
        filter: "state:exec \\"two words\\" !tile 漢字"
        refresh: 4/s
        theme: light
        mouse: true
        bell: true
        columns:
        - id
        - state: 12
        - name
        - error

        """)
    let (again, mistakes) = try SettingsTree(text).settings()
    #expect(again == settings && mistakes == [])
    tree.set(Set(DashboardSettings.Key.allCases), of: DashboardSettings())
    #expect(try SettingsTree(try tree.text()).settings().settings == DashboardSettings())
  }

  @Test("SF-7: only the values of the given keys change, and unknown keys remain")
  func otherValuesRemain() throws {
    var tree = try SettingsTree(
      """
      future: {list: [1, "true", 'x: y'], text: "two\\nlines", number: 007}
      theme: drk
      bell: on
      filter: kind:Merge
      """)
    var settings = DashboardSettings()
    settings.theme = .dark
    tree.set([.theme, .filter, .view], of: settings)
    #expect(
      try tree.text() == """
        future:
          list:
          - 1
          - "true"
          - "x: y"
          text: "two\\nlines"
          number: 007
        theme: dark
        bell: on
        view: operations

        """)
  }

  @Test(
    "SF-7: unknown keys and values of any form are read as they were written",
    arguments: [
      "future:", "future: ~", "future: |\n  a\n   b\n\nnext: x", "future: >-\n  a\n  b",
      "future: {}",
      "future: []", "future: [a, {b: [c, '', \"\"]}]", "future:\n-\n- - x\n  - y\n- k:\n    - z",
      "\"a b\": 1", "'yes': 'no'", "a.b: '-'", "漢字: '👨‍👩‍👧‍👦'",
      "future: \"\\0\\t\\u200B\\u2028\\e\"",
      "future: '#'\n'#': future", "future: 'a: b #c'", "'': x", "future: \"\\n\"",
      "future: -1.0e+3",
      "\(String(repeating: "k", count: 500)): x", "future: a\n  b",
    ])
  func anyValueIsReadAgain(text: String) throws {
    func described(_ node: JobFileNode) -> String {
      switch node.content {
      case .text(let text, let isQuoted): "\(isQuoted)(\(text))"
      case .list(let elements): "[\(elements.map { described($0) }.joined(separator: ","))]"
      case .mapping(let entries):
        "{\(entries.map { "(\($0.key)):\(described($0.value))" }.joined(separator: ","))}"
      }
    }
    let tree = try #require(try YAMLReader.tree(of: text))
    let again = try #require(try YAMLReader.tree(of: try YAMLWriter.text(of: tree)))
    #expect(described(again) == described(tree))
  }

  @Test(
    "SF-7: a filter of any text is read as it was written",
    arguments: [
      "true", "- x", "\"a: b\"", "#1042", "\"\"\"\"", "x\u{7F}y", "漢字 👨‍👩‍👧‍👦", "مرحبا", "~", "null", "'",
      "a\\b",
      "{[,]}", "%", "@", "`",
    ])
  func anyFilterIsReadAgain(text: String) throws {
    var settings = DashboardSettings()
    settings.filter = try OperationFilter(text)
    var tree = try SettingsTree("")
    tree.set([.filter], of: settings)
    #expect(try SettingsTree(try tree.text()).settings().settings.filter == settings.filter)
  }
}
