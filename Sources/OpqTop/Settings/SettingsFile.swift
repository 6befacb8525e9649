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
      let (settings, mistakes) = try Self.tree(of: contents()).settings()
      return (settings, Self.remark(about: mistakes))
    } catch {
      return (DashboardSettings(), "\(Self.name) is ignored: \(error.clause)")
    }
  }

  private static func remark(about mistakes: [SettingsTree.Mistake]) -> String {
    guard let first = mistakes.first else { return "" }
    let others = mistakes.count - 1
    let count = others == 0 ? "" : " (and \(others) more mistake\(others == 1 ? "" : "s"))"
    return "\(name):\(first.line): \(first.words) is ignored\(count)\(first.advice)"
  }

  /// A reason why the file is not used or not written.
  struct Problem: Error {
    /// The reason as a sentence without a full stop. It names the file if it is about the file.
    let words: String
    /// The reason as a clause after the name of the file.
    let clause: String

    /// Creates a reason that is not about the contents of the file.
    init(words: String) { (self.words, clause) = (words, words) }

    /// Creates a reason whose subject is the file, such as "is a directory".
    init(predicate: String) {
      (words, clause) = ("\(SettingsFile.name) \(predicate)", "it \(predicate)")
    }

    /// Creates a reason from a mistake in the text of the file. The words of the parser are left out.
    init(_ mistake: JobFileMistake) {
      let (name, line) = (SettingsFile.name, "line \(mistake.line)")
      (words, clause) =
        switch mistake.kind {
        case .syntax: ("\(line) of \(name) is not YAML", "\(line) is not YAML")
        case .repeatedKey: ("\(mistake.message) of \(name)", mistake.message)
        case .other:
          ("\(mistake.message) (\(line) of \(name))", "\(mistake.message) (\(line))")
        }
    }
  }

  /// The text and the permissions of the file at a moment.
  struct Contents: Equatable {
    /// The text of the file.
    let text: String
    /// The permissions of the file.
    let permissions: UInt32
  }

  /// Returns the tree of these contents. A file that does not exist, for which `contents` is `nil`, has no keys.
  private static func tree(of contents: Contents?) throws(Problem) -> SettingsTree {
    do throws(JobFileMistake) {
      return try SettingsTree(contents?.text ?? "")
    } catch {
      throw Problem(error)
    }
  }

  /// Returns the contents of the file; `nil` if the file does not exist.
  func contents() throws(Problem) -> Contents? {
    let file = cmonitor_open_to_read(path)
    if Self.isAbsence(-file) { return nil }
    guard file >= 0 else { throw Self.unreadable(-file) }
    defer { cmonitor_close(file) }
    var status = cmonitor_file_status()
    let error = cmonitor_read_open_status(file, &status)
    guard error == 0 else { throw Self.unreadable(error) }
    guard status.is_regular else {
      throw Problem(predicate: "is \(status.is_directory ? "a directory" : "not a regular file")")
    }
    var bytes = [UInt8](repeating: 0, count: Self.mostBytes + 1)
    let count = cmonitor_read_at(file, &bytes, bytes.count, 0)
    guard count <= Self.mostBytes else {
      throw Problem(predicate: "has more than \(Self.mostBytes >> 10) KiB")
    }
    guard let text = String(validating: bytes.prefix(count), as: UTF8.self) else {
      throw Problem(predicate: "is not UTF-8")
    }
    return Contents(text: text, permissions: status.permissions)
  }

  /// Returns whether an error of the system means that a file does not exist.
  private static func isAbsence(_ error: Int32) -> Bool {
    [cmonitor_error_no_such_file, cmonitor_error_not_a_directory].contains(error)
  }

  private static func unreadable(_ error: Int32) -> Problem {
    Problem(predicate: "cannot be read (\(String(cString: cmonitor_error_text(error))))")
  }

  // MARK: Writing

  /// Writes the values of these keys into a file, which is ``ofUser``.
  static func save(
    _ settings: DashboardSettings, _ keys: Set<DashboardSettings.Key>, in file: SettingsFile?
  ) -> SettingsResult {
    file?.save(settings, keys)
      ?? .failed(reason: "neither XDG_CONFIG_HOME nor HOME is an absolute path")
  }

  /// Writes the values of these keys into the file. The other values of the file do not change, also if another program
  /// changes them at the same time. Comments are lost.
  ///
  /// The file is replaced as a whole: it never has a part of the new contents. If its path is a symbolic link, the file
  /// that the link names is replaced.
  package func save(
    _ settings: DashboardSettings, _ keys: Set<DashboardSettings.Key>
  ) -> SettingsResult {
    do throws(Problem) {
      let lock = try lockDirectory()
      defer { if lock >= 0 { cmonitor_close(lock) } }
      for _ in 0..<Self.mostAttempts {
        let old = try contents()
        var tree = try Self.tree(of: old)
        tree.set(keys, of: settings)
        guard let text = try? tree.text() else {
          throw Problem(words: "a setting has a text that YAML cannot represent")
        }
        if try replace(old, by: text) { return .saved(path: shownPath) }
      }
      throw Problem(words: "another program changes \(Self.name) all the time")
    } catch {
      return .failed(reason: error.words)
    }
  }

  /// The number of attempts to replace the file while other programs change it.
  private static let mostAttempts = 10
  /// The maximum time for which the program waits while another `opq-top` saves settings.
  private static let patience = Duration.seconds(2)

  /// Waits until no other `opq-top` saves settings in the directory of the file, and creates the directory if it does
  /// not exist. While the returned descriptor is open, other ones wait. It is negative if the file system has no locks.
  private func lockDirectory() throws(Problem) -> Int32 {
    let directory = String(path.dropLast(Self.name.utf8.count))
    var file = cmonitor_open_to_read(directory)
    if Self.isAbsence(-file) {
      try createDirectory()
      file = cmonitor_open_to_read(directory)
    }
    guard file >= 0 else { return file }
    let deadline = ContinuousClock.now + Self.patience
    while cmonitor_lock(file, false) == cmonitor_error_try_again {
      guard ContinuousClock.now < deadline else {
        cmonitor_close(file)
        throw Problem(words: "another opq-top is saving its settings")
      }
      cmonitor_sleep(1_000_000)
    }
    return file
  }

  /// Replaces the file by one with this text, or creates it if it had no contents. Does nothing and returns `false` if
  /// the contents are no longer the old ones, because another program has changed the file.
  func replace(_ old: Contents?, by text: String) throws(Problem) -> Bool {
    var target = path
    if old == nil {
      guard try contents() == nil else { return false }
      try checkAbsence()
    } else {
      target = OutputFile.resolved(path)
      try check(cmonitor_check_writable(target, false))
    }
    let (temporary, file) = OutputFile.createUnique("\(target).")
    try check(file < 0 ? -file : 0)
    var isRenamed = false
    defer { if !isRenamed { cmonitor_delete(temporary) } }
    var text = text
    var error = cmonitor_set_permissions(file, old?.permissions ?? 0o600)
    if error == 0 {
      error = text.withUTF8 { cmonitor_write_all(file, $0.baseAddress, $0.count, false) }
    }
    if error == 0 { error = cmonitor_sync(file) }
    // The system may report only now that the file could not be written.
    let closingError = cmonitor_close(file)
    try check(error == 0 ? closingError : error)
    guard try contents() == old else { return false }
    error =
      old == nil
      ? cmonitor_rename_without_replacing(temporary, target) : cmonitor_rename(temporary, target)
    if old == nil, error == cmonitor_error_file_exists { return false }
    try check(error)
    isRenamed = true
    return true
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
