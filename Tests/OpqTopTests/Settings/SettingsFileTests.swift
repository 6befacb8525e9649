// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import Foundation
import MonitorProtocol
import TestSupport
import Testing

@testable import OpqTop

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests of reading and writing the settings file.
@Suite("The settings file", .timeLimit(.minutes(10)))
struct SettingsFileTests {
  private let temporary: TemporaryDirectory
  private let file: SettingsFile

  init() throws {
    temporary = try TemporaryDirectory()
    file = try #require(SettingsFile(configurationHome: temporary.path, home: nil))
  }

  private var path: String { "\(temporary.path)/opq/config.yaml" }

  private func write(_ text: String) throws { try write(Data(text.utf8)) }

  private func write(_ data: Data) throws {
    try FileManager.default.createDirectory(
      atPath: "\(temporary.path)/opq", withIntermediateDirectories: true)
    try data.write(to: URL(fileURLWithPath: path))
  }

  private var text: String { get throws { try String(contentsOfFile: path, encoding: .utf8) } }

  private func permissions(of path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  private func settings(_ change: (inout DashboardSettings) -> Void) -> DashboardSettings {
    var settings = DashboardSettings()
    change(&settings)
    return settings
  }

  // MARK: The path

  @Test("SF-1: the file is below XDG_CONFIG_HOME if that is an absolute path")
  func thePathFollowsTheEnvironment() {
    func path(_ configurationHome: String?, _ home: String?) -> String? {
      SettingsFile(configurationHome: configurationHome, home: home)?.path
    }
    #expect(path("/etc/xdg", "/home/x") == "/etc/xdg/opq/config.yaml")
    for ignored in [nil, "", "relative/path", "~"] {
      #expect(path(ignored, "/home/x") == "/home/x/.config/opq/config.yaml")
      #expect(path(ignored, nil) == nil && path(ignored, "relative") == nil)
    }
  }

  @Test("SF-1: a file that does not exist is no mistake")
  func aMissingFileIsNoMistake() throws {
    #expect(file.read() == (DashboardSettings(), ""))
    let other = try #require(SettingsFile(configurationHome: "/dev/null", home: nil))
    #expect(other.read() == (DashboardSettings(), ""))
    #expect(!FileManager.default.fileExists(atPath: "\(temporary.path)/opq"))
  }

  // MARK: Reading

  private static let keys =
    "the keys are "
    + DashboardSettings.Key.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")

  @Test(
    "SF-3: all mistakes of a file are one sentence",
    arguments: [
      ("thme: dark", "config.yaml:1: unknown key \"thme\" is ignored; did you mean \"theme\"?"),
      (
        "a: 1\nview: 3",
        "config.yaml:1: unknown key \"a\" is ignored (and 1 more mistake); \(keys)"
      ),
      (
        "mouse: true\nthme: 1\nb: 2\nview: 3",
        """
        config.yaml:2: unknown key "thme" is ignored (and 2 more mistakes); did you mean "theme"?
        """
      ),
      (
        "bell: [1]\nb: 2",
        "config.yaml:1: the value of bell is ignored (and 1 more mistake); it must be one word"
      ),
    ])
  func mistakesAreOneSentence(text: String, sentence: String) throws {
    try write(text)
    let (settings, remark) = file.read()
    #expect(remark == sentence)
    #expect(settings.usesMouse == text.contains("mouse"))
  }

  @Test("SF-4: a file that cannot be used has no effect, and the reason is one sentence")
  func unusableFilesAreIgnored() throws {
    func expect(_ words: String) {
      let (settings, remark) = file.read()
      #expect(settings == DashboardSettings())
      #expect(remark == "config.yaml is ignored: it \(words)")
    }
    try write("mouse: true\n# " + String(repeating: "x", count: 64 << 10))
    expect("has more than 64 KiB")
    try write(Data("mouse: true\n# \u{E9}".unicodeScalars.map { UInt8($0.value) }))
    expect("is not UTF-8")
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    expect("is a directory")
    try FileManager.default.removeItem(atPath: path)
    #expect(mkfifo(path, 0o600) == 0)
    expect("is not a regular file")
  }

  @Test(
    "SF-4, SF-10: a screen of 80 columns shows the whole reason why a text cannot be used",
    arguments: [
      ("a: [1,", "line 1 is not YAML", "line 1 of config.yaml is not YAML"),
      ("mouse: true\n- x", "line 2 is not YAML", "line 2 of config.yaml is not YAML"),
      (
        "sort: -time\nsort: -time", "the key \"sort\" is given twice in one mapping",
        "the key \"sort\" is given twice in one mapping of config.yaml"
      ),
      ("- x", "the file has no keys (line 1)", "the file has no keys (line 1 of config.yaml)"),
      (
        "a: 1\n---\nb: 1", "the file has more than one YAML document (line 2)",
        "the file has more than one YAML document (line 2 of config.yaml)"
      ),
      (
        "bell: &a true", "the file cannot have anchors and aliases (line 1)",
        "the file cannot have anchors and aliases (line 1 of config.yaml)"
      ),
    ])
  func unusableTextsAreIgnored(text: String, words: String, reason: String) throws {
    try write("\(text)\n")
    let (settings, remark) = file.read()
    #expect(settings == DashboardSettings())
    #expect(remark == "config.yaml is ignored: \(words)" && remark.count < 80)
    #expect(file.save(settings, [.bell]) == .failed(reason: reason))
    #expect("not saved: \(reason)".count < 80)
  }

  @Test("SF-4: a file of exactly 64 KiB is used")
  func theLargestFileIsUsed() throws {
    let text = "mouse: true\n# "
    try write(text + String(repeating: "x", count: (64 << 10) - text.utf8.count))
    #expect(file.read() == (settings { $0.usesMouse = true }, ""))
  }

  @Test("SF-4: a file without permission has no effect", .enabled(if: getuid() != 0))
  func unreadableFilesAreIgnored() throws {
    try write("mouse: true")
    chmod(path, 0o000)
    #expect(
      file.read()
        == (
          DashboardSettings(),
          "config.yaml is ignored: it cannot be read (Permission denied)"
        ))
  }

  @Test("SF-4: a file that the system does not open has no effect")
  func fileThatIsALinkToItself() throws {
    try write("")
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "config.yaml")
    let reason = String(cString: strerror(ELOOP))
    #expect(
      file.read()
        == (DashboardSettings(), "config.yaml is ignored: it cannot be read (\(reason))"))
  }

  // MARK: Writing

  @Test("SF-9: a new file and its directories are private")
  func newFilesArePrivate() throws {
    let deep = try #require(
      SettingsFile(configurationHome: "\(temporary.path)/a/b", home: temporary.path))
    #expect(
      deep.save(settings { $0.theme = .dark }, [.theme]) == .saved(path: "~/a/b/opq/config.yaml"))
    #expect(try permissions(of: "\(temporary.path)/a/b/opq/config.yaml") == 0o600)
    for directory in ["a", "a/b", "a/b/opq"] {
      #expect(try permissions(of: "\(temporary.path)/\(directory)") == 0o700)
    }
    #expect(deep.read() == (settings { $0.theme = .dark }, ""))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: "\(temporary.path)/a/b/opq")
        == ["config.yaml"])
  }

  @Test("SF-9: a replaced file keeps its permissions")
  func permissionsRemain() throws {
    try write("bell: true\n")
    chmod(path, 0o664)
    #expect(file.save(settings { $0.theme = .dark }, [.theme]) == .saved(path: path))
    #expect(try permissions(of: path) == 0o664)
    #expect(try text == "bell: true\ntheme: dark\n")
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: "\(temporary.path)/opq")
        == ["config.yaml"])
  }

  @Test("SF-9: a symbolic link remains, and the file that it names is replaced")
  func linksAreFollowed() throws {
    let target = "\(temporary.path)/dotfiles.yaml"
    try Data("bell: true\n".utf8).write(to: URL(fileURLWithPath: target))
    try FileManager.default.createDirectory(
      atPath: "\(temporary.path)/opq", withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: path, withDestinationPath: "../dotfiles.yaml")
    #expect(file.read().settings.ringsBell)
    #expect(file.save(settings { $0.usesMouse = true }, [.mouse]) == .saved(path: path))
    #expect(
      try FileManager.default.destinationOfSymbolicLink(atPath: path) == "../dotfiles.yaml")
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "bell: true\nmouse: true\n")
    try FileManager.default.removeItem(atPath: target)
    #expect(
      file.save(DashboardSettings(), [.mouse])
        == .failed(reason: "\(path) is a link to a file that does not exist"))
    #expect(!FileManager.default.fileExists(atPath: target))
  }

  @Test("SF-7: a change of another program since the file was read remains")
  func changesOfOthersRemain() throws {
    try write("theme: light\nbell: false\n")
    var changed = file.read().settings
    changed.usesMouse = true
    try write("theme: dark\nfuture: 1\n")
    #expect(file.save(changed, [.mouse]) == .saved(path: path))
    #expect(try text == "theme: dark\nfuture: 1\nmouse: true\n")
  }

  @Test("SF-7: several programs that save different settings at the same time all save them")
  func settingsThatAreSavedAtTheSameTimeRemain() throws {
    let all = try SettingsTreeTests.unusual
    let keys = DashboardSettings.Key.allCases
    for round in 0..<4 {
      if round.isMultiple(of: 2) { try write("future: 1\n") }
      DispatchQueue.concurrentPerform(iterations: keys.count) { index in
        #expect(file.save(all, [keys[index]]) == .saved(path: path))
      }
      #expect(file.read().settings == all)
      #expect(try text.hasPrefix("future: 1\n") == round.isMultiple(of: 2))
      try FileManager.default.removeItem(atPath: path)
    }
  }

  @Test("SF-7: a change that another program makes while the file is written is not lost")
  func aChangeWhileTheFileIsWrittenRemains() throws {
    let absent = try file.contents()
    try write("bell: true\n")
    #expect(try file.replace(absent, by: "theme: dark\n") == false)
    let old = try file.contents()
    try write("bell: false\n")
    #expect(try file.replace(old, by: "bell: true\ntheme: dark\n") == false)
    #expect(try text == "bell: false\n")
    #expect(try file.replace(file.contents(), by: "theme: dark\n"))
    #expect(try text == "theme: dark\n")
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: "\(temporary.path)/opq")
        == ["config.yaml"])
  }

  @Test("SF-10: a file with a mistake that prevents reading is not replaced")
  func unreadableFilesAreNotReplaced() throws {
    try write("view: [\n")
    let result = file.save(DashboardSettings(), [.theme])
    guard case .failed(let reason) = result else { return #expect(Bool(false), "\(result)") }
    #expect(reason == "line 1 of config.yaml is not YAML")
    #expect(try text == "view: [\n")
  }

  @Test("SF-10: the reason why the file cannot be written is reported")
  func failuresAreReported() throws {
    try write("bell: true\n")
    let blocked = try #require(SettingsFile(configurationHome: path, home: nil))
    #expect(
      blocked.save(DashboardSettings(), [.theme])
        == .failed(reason: "cannot write \(path)/opq/config.yaml: Not a directory"))
    #expect(try text == "bell: true\n")
  }

  @Test("SF-10: a directory that cannot be written is reported", .enabled(if: getuid() != 0))
  func directoriesWithoutPermission() throws {
    try write("bell: true\n")
    chmod("\(temporary.path)/opq", 0o500)
    defer { chmod("\(temporary.path)/opq", 0o700) }
    #expect(
      file.save(DashboardSettings(), [.theme])
        == .failed(reason: "cannot write \(path): Permission denied"))
    #expect(try text == "bell: true\n")
  }

  /// Saves a setting that is changed in the setup. Returns the text of the screen afterwards.
  private func screen(afterSavingIn file: SettingsFile?) throws -> String {
    var dashboard = Dashboard(configuration: Dashboard.Configuration(title: "tiles"))
    let size = Size(columns: 120, rows: 40)
    _ = dashboard.reduce(.resized(size))
    var effects: [Effect] = []
    for input: Input in [.function(2), .character("+"), .character("s")] {
      effects = dashboard.reduce(.input(input))
    }
    guard case .saveSettings(let settings, let keys) = try #require(effects.last) else { return "" }
    #expect(settings.view == .tree && keys == [.view])
    let result = SettingsFile.save(settings, keys, in: file)
    _ = dashboard.reduce(.settingsSaved(result))
    let grid = dashboard.view(size: size, capabilities: Capabilities(isUnicode: true))
    return String(String.UnicodeScalarView(grid.cells.map(\.scalar)))
  }

  @Test("SF-10: the setup shows that a directory cannot be created, also to root")
  func directoriesThatCannotBeCreated() throws {
    // Not even root can create a directory in /proc.
    let blocked = try #require(SettingsFile(configurationHome: "/proc/opq-test", home: nil))
    let reason = "cannot write /proc/opq-test/opq/config.yaml: No such file or directory"
    #expect(blocked.save(DashboardSettings(), [.theme]) == .failed(reason: reason))
    #expect(try screen(afterSavingIn: blocked).contains("not saved: \(reason)"))
    #expect(try screen(afterSavingIn: file).contains("saved in \(path)"))
  }

  @Test("SF-1, SF-10: without an absolute path in the environment, the settings are not saved")
  func noFile() throws {
    let none = SettingsFile(configurationHome: "relative", home: "")
    #expect(none == nil)
    #expect(
      try screen(afterSavingIn: none).contains(
        "not saved: neither XDG_CONFIG_HOME nor HOME is an absolute path"))
  }
}
