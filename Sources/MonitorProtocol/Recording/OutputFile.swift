// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem

/// The reason why a file cannot be written, read or executed.
package struct FileError: Error, CustomStringConvertible {
  /// The reason in one sentence for the user, without a full stop. Paths in the sentence are unsanitised.
  package let description: String
  /// The exit status of a program for this error.
  package let status: Int32
  /// Whether the reason is that a file already exists and may not be replaced.
  package let isAboutExistingFile: Bool

  /// Creates an error from its description.
  package init(_ description: String, status: Int32 = 2) {
    self.description = description
    self.status = status
    isAboutExistingFile = false
  }

  /// Creates an error from what the program could not do, and the error number of the system.
  package init(_ words: String, errno code: Int32, status: Int32 = 2) {
    self.init("\(words): \(String(cString: cmonitor_error_text(code)))", status: status)
  }

  /// Creates the error that a file exists at a path.
  init(existing path: String) {
    description = "\(path) already exists"
    status = 2
    isAboutExistingFile = true
  }
}

/// A file that is written sequentially and that only its owner can read.
package struct OutputFile: ~Copyable {
  /// The moment at which a file gets its name.
  package enum Appearance {
    /// The file has its name from the beginning, because even an incomplete recording is useful.
    case atOnce
    /// The file gets its name in ``finish()``. Until then, an existing file keeps the name.
    case whenWhole
  }

  /// The path of the file.
  package let path: String
  /// The size of the file in bytes.
  package private(set) var size = 0
  /// The descriptor of the open file; negative after the file was closed.
  private var descriptor: Int32
  /// The renaming that ``finish()`` has to do; `nil` if the file already has its name.
  private var pending: (temporary: String, final: String, replaces: Bool)?

  /// Creates the file.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - replaces: Whether an existing regular file is replaced. If the path is something else,
  ///     such as a device, the bytes are written to it.
  ///   - appearance: The moment at which the file gets its name.
  /// - Throws: `FileError` if the file cannot be created or already exists.
  package init(
    creating path: String, replaces: Bool, _ appearance: Appearance = .atOnce
  ) throws(FileError) {
    (self.path, descriptor) = (path, -1)
    try Self.checkAbsence(of: path, replaces: replaces)
    let isRegular = Self.isRegular(path)
    if appearance == .atOnce || isRegular == false {
      descriptor = cmonitor_create_file(
        path, replaces ? CMONITOR_TRUNCATE_EXISTING_FILE : CMONITOR_FAIL_IF_FILE_EXISTS, 0o600)
      if descriptor >= 0, isRegular == true { cmonitor_make_private(descriptor) }
    } else {
      let final = isRegular == nil ? path : Self.resolved(path)
      let (temporary, descriptor) = Self.createUnique("\(final).")
      self.descriptor = descriptor
      if descriptor >= 0 { pending = (temporary, final, replaces) }
    }
    guard descriptor >= 0 else {
      throw -descriptor == cmonitor_error_file_exists
        ? FileError(existing: path)
        : FileError("cannot create \(path)", errno: -descriptor)
    }
  }

  deinit {
    if let pending { cmonitor_delete(pending.temporary) }
    if descriptor >= 0 { cmonitor_close(descriptor) }
  }

  /// Appends all bytes, or none.
  ///
  /// If the file has reached the size limit of the process, the method throws an error, and the signal
  /// `SIGXFSZ`, whose default action ends the process, does not arrive.
  ///
  /// - Throws: `FileError` if the bytes cannot be written; for example, if the disk is full.
  package mutating func append(_ bytes: [UInt8]) throws(FileError) {
    // A part of an update at the end of a recording is useless.
    let error = bytes.withUnsafeBytes {
      cmonitor_write_all_or_none(descriptor, $0.baseAddress, $0.count, Int64(size))
    }
    guard error == 0 else { throw FileError("cannot write \(path)", errno: error, status: 1) }
    size += bytes.count
  }

  /// Closes the file and gives it its name.
  ///
  /// - Throws: `FileError` if the system reports only now that the file could not be written, or if
  ///   another program has created a file with this name since the file was opened.
  package mutating func finish() throws(FileError) {
    var error = cmonitor_close(descriptor)
    descriptor = -1
    guard error == 0 else { throw FileError("cannot write \(path)", errno: error, status: 1) }
    guard let named = pending else { return }
    error =
      named.replaces
      ? cmonitor_rename(named.temporary, named.final)
      : cmonitor_rename_without_replacing(named.temporary, named.final)
    guard error == 0 else { throw FileError("cannot create \(path)", errno: error, status: 1) }
    pending = nil
  }

  /// Checks that no file exists at a path, unless an existing file is replaced.
  ///
  /// - Throws: `FileError` if the file exists.
  package static func checkAbsence(of path: String, replaces: Bool) throws(FileError) {
    guard replaces || isRegular(path) == nil else { throw FileError(existing: path) }
  }

  /// Checks, before a file is created, that this is possible as far as it can be known.
  ///
  /// - Throws: `FileError` if the file exists and may not be replaced, or if it or its directory cannot be
  ///   written.
  package static func checkCreatable(_ path: String, replaces: Bool) throws(FileError) {
    try checkAbsence(of: path, replaces: replaces)
    let directory = Self.split(path).directory
    let isThere = isRegular(path) != nil
    let error = cmonitor_check_writable(isThere ? path : directory, !isThere)
    guard error == 0 else { throw FileError("cannot create \(path)", errno: error) }
  }

  /// Returns whether the file at a path is a regular file, after links were resolved; `nil` if no file exists there.
  package static func isRegular(_ path: String) -> Bool? {
    var status = cmonitor_file_status()
    return cmonitor_read_status(path, true, &status) == 0 ? status.is_regular : nil
  }

  /// Returns whether two paths name the same file, which need not exist.
  package static func isSameFile(_ first: String, _ second: String) -> Bool {
    place(of: first) == place(of: second)
  }

  /// Creates a file whose path begins with a text. Only its owner can read and write it.
  ///
  /// - Parameters:
  ///   - stem: The beginning of the path. Six characters follow.
  ///   - appends: Whether all bytes are written at the end of the file.
  /// - Returns: The path and the descriptor of the file. If the file cannot be created, the descriptor is the negative
  ///   error number.
  package static func createUnique(
    _ stem: String, appends: Bool = false
  ) -> (path: String, descriptor: Int32) {
    var template = Array("\(stem)XXXXXX".utf8CString)
    let descriptor = cmonitor_create_unique_file(&template, appends)
    let path = template.dropLast().map(UInt8.init(bitPattern:))
    return (String(decoding: path, as: UTF8.self), descriptor)
  }

  /// Returns the path of a file with all links resolved. The file need not exist.
  private static func place(of path: String) -> String {
    guard isRegular(path) == nil else { return resolved(path) }
    let (directory, name) = split(path)
    return "\(resolved(directory))/\(name)"
  }

  /// Returns the path of the directory of a file, and the name of the file.
  private static func split(_ path: String) -> (directory: String, name: Substring) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    let directory = parts.count > 1 ? parts.dropLast().joined(separator: "/") + "/" : "."
    return (directory, parts.last ?? "")
  }

  /// Returns the path with all links resolved.
  package static func resolved(_ path: String) -> String {
    guard let resolved = cmonitor_resolved_path(path) else { return path }
    defer { cmonitor_free(resolved) }
    return String(cString: resolved)
  }
}
