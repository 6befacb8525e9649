// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
package import Dashboard
import JobFiles
import MonitorProtocol

/// The settings file of the user: `opq/config.yaml` below `XDG_CONFIG_HOME` or, if that is not an absolute path, below
/// `~/.config`. The file need not exist.
package struct SettingsFile: Sendable {
  /// The maximum size of the file in bytes.
  private static let mostBytes = 64 << 10
  /// The name of the file in sentences.
  private static let name = "config.yaml"

  /// The path of the file.
  let path: String
  /// The path of the file for people. It begins with `~` if the file is in the home directory.
  private let shownPath: String

  /// The settings file of the user; `nil` if neither variable of the environment is an absolute path.
  package static var ofUser: SettingsFile? {
    func variable(_ name: String) -> String? {
      cmonitor_environment(name).map { String(cString: $0) }
    }
    return SettingsFile(configurationHome: variable("XDG_CONFIG_HOME"), home: variable("HOME"))
  }

  /// Creates the settings file for these values of the variables `XDG_CONFIG_HOME` and `HOME`. A value that is not an
  /// absolute path is ignored. Returns `nil` if both are ignored.
  package init?(configurationHome: String?, home: String?) {
    func absolute(_ path: String?) -> String? { path?.hasPrefix("/") == true ? path : nil }
    let home = absolute(home)
    guard let directory = absolute(configurationHome) ?? home.map({ "\($0)/.config" }) else {
      return nil
    }
    let path = "\(directory)/opq/\(Self.name)"
    self.path = path
    if let home, path.hasPrefix("\(home)/") {
      shownPath = "~" + path.dropFirst(home.count)
    } else {
      shownPath = path
    }
  }

  // MARK: Reading

  /// Reads the settings. If the file does not exist, they are the defaults.
  ///
  /// - Returns: The settings, and a sentence about mistakes, which is empty if there are none. Parts with mistakes have
  ///   no effect.
  package func read() -> (settings: DashboardSettings, remark: String) {
    do throws(Problem) {
      let (settings, mistakes) = try tree().tree.settings()
      return (settings, Self.remark(about: mistakes))
    } catch {
      return (DashboardSettings(), "\(error.words); it is ignored")
    }
  }

  private static func remark(about mistakes: [SettingsTree.Mistake]) -> String {
    guard let first = mistakes.first else { return "" }
    let beginning = "\(name):\(first.line): \(first.words) is ignored"
    switch mistakes.count {
    case 1: return beginning + first.advice
    case 2: return beginning + ", and so is another mistake"
    default: return beginning + ", and so are \(mistakes.count - 1) other mistakes"
    }
  }

  /// A reason why the file has no effect, as the beginning of a sentence.
  private struct Problem: Error {
    let words: String
  }

  /// Returns the contents of the file, and its permissions; `nil` instead of permissions if the file does not exist.
  private func tree() throws(Problem) -> (tree: SettingsTree, permissions: UInt32?) {
    let contents = try contents()
    do throws(JobFileMistake) {
      return (try SettingsTree(contents?.text ?? ""), contents?.permissions)
    } catch {
      throw Problem(words: "\(Self.name):\(error.line): \(error.message)")
    }
  }

  /// Returns the text and the permissions of the file; `nil` if the file does not exist.
  private func contents() throws(Problem) -> (text: String, permissions: UInt32)? {
    let file = cmonitor_open_to_read(path)
    if [cmonitor_error_no_such_file, cmonitor_error_not_a_directory].contains(-file) { return nil }
    guard file >= 0 else { throw Self.unreadable(-file) }
    defer { cmonitor_close(file) }
    var status = cmonitor_file_status()
    let error = cmonitor_read_open_status(file, &status)
    guard error == 0 else { throw Self.unreadable(error) }
    guard status.is_regular else {
      throw Problem(
        words: "\(Self.name) is \(status.is_directory ? "a directory" : "not a regular file")")
    }
    var bytes = [UInt8](repeating: 0, count: Self.mostBytes + 1)
    let count = cmonitor_read_at(file, &bytes, bytes.count, 0)
    guard count <= Self.mostBytes else {
      throw Problem(words: "\(Self.name) has more than \(Self.mostBytes >> 10) KiB")
    }
    guard let text = String(validating: bytes.prefix(count), as: UTF8.self) else {
      throw Problem(words: "\(Self.name) is not UTF-8")
    }
    return (text, status.permissions)
  }

  private static func unreadable(_ error: Int32) -> Problem {
    Problem(words: "\(name) cannot be read: \(String(cString: cmonitor_error_text(error)))")
  }

  // MARK: Writing

  /// Writes the values of these keys into the file. The other values of the file do not change, also if another program
  /// has changed them since the file was read. Comments are lost.
  ///
  /// The file is replaced as a whole: it never has a part of the new contents. If its path is a symbolic link, the file
  /// that the link names is replaced.
  package func save(
    _ settings: DashboardSettings, _ keys: Set<DashboardSettings.Key>
  ) -> SettingsResult {
    do throws(Problem) {
      var (tree, permissions) = try tree()
      tree.set(keys, of: settings)
      guard let text = try? tree.text() else {
        throw Problem(words: "a setting has a text that YAML cannot represent")
      }
      try write(text, permissions: permissions)
      return .saved(path: shownPath)
    } catch {
      return .failed(reason: error.words)
    }
  }

  /// Replaces the file, or creates it if it has no permissions.
  private func write(_ text: String, permissions: UInt32?) throws(Problem) {
    var target = path
    if permissions == nil {
      try checkAbsence()
      try createDirectory()
    } else {
      target = OutputFile.resolved(path)
      try check(cmonitor_check_writable(target, false))
    }
    let (temporary, file) = OutputFile.createUnique("\(target).")
    try check(file < 0 ? -file : 0)
    var text = text
    var error = cmonitor_set_permissions(file, permissions ?? 0o600)
    if error == 0 {
      error = text.withUTF8 { cmonitor_write_all(file, $0.baseAddress, $0.count, false) }
    }
    if error == 0 { error = cmonitor_sync(file) }
    // The system may report only now that the file could not be written.
    let closingError = cmonitor_close(file)
    if error == 0 { error = closingError }
    if error == 0 { error = cmonitor_rename(temporary, target) }
    if error != 0 { cmonitor_delete(temporary) }
    try check(error)
  }

  /// Checks that no link is at the path of a file that does not exist. The new file would replace the link.
  private func checkAbsence() throws(Problem) {
    var status = cmonitor_file_status()
    guard cmonitor_read_status(path, false, &status) != 0 else {
      throw Problem(words: "\(shownPath) is a link to a file that does not exist")
    }
  }

  /// Creates the directory of the file, and the directories that contain it.
  private func createDirectory() throws(Problem) {
    var directory = ""
    for part in path.split(separator: "/").dropLast() {
      directory += "/\(part)"
      try check(cmonitor_create_private_directory(directory))
    }
  }

  private func check(_ error: Int32) throws(Problem) {
    guard error != 0 else { return }
    let reason = String(cString: cmonitor_error_text(error))
    throw Problem(words: "cannot write \(shownPath): \(reason)")
  }
}
