// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc

/// The reason why a file cannot be written or read.
struct FileError: Error, CustomStringConvertible {
  /// The reason in one sentence for the user, without a full stop.
  let description: String
  /// The exit status for this error.
  let status: Int32

  init(_ description: String, status: Int32 = 2) {
    self.description = description
    self.status = status
  }

  init(_ words: String, errno code: Int32, status: Int32 = 2) {
    self.init("\(words): \(String(cString: strerror(code)))", status: status)
  }
}

/// A file that is written sequentially and that only its owner can read.
struct OutputFile: ~Copyable {
  /// The moment at which a file gets its name.
  enum Appearance {
    /// The file has its name from the beginning, because even an incomplete recording is useful.
    case atOnce
    /// The file gets its name in ``finish()``. Until then, an existing file keeps the name.
    case whenWhole
  }

  let path: String
  /// The size of the file in bytes.
  private(set) var size = 0
  /// The descriptor of the open file; -1 after the file was closed.
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
  init(
    creating path: String, replaces: Bool, _ appearance: Appearance = .atOnce
  ) throws(FileError) {
    (self.path, descriptor) = (path, -1)
    try Self.checkAbsence(of: path, replaces: replaces)
    let kind = Self.kind(of: path)
    if appearance == .atOnce || kind.map({ $0 != S_IFREG }) == true {
      descriptor = open(
        path, O_WRONLY | O_CREAT | O_CLOEXEC | (replaces ? O_TRUNC : O_EXCL), 0o600)
      if descriptor >= 0, kind == S_IFREG { fchmod(descriptor, 0o600) }
    } else {
      let final = kind == nil ? path : Self.resolved(path)
      var template = Array("\(final).XXXXXX".utf8CString)
      descriptor = mkstemp(&template)
      let name = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
      pending = (name, final, replaces)
    }
    guard descriptor >= 0 else {
      let error = errno
      pending = nil
      throw error == EEXIST
        ? FileError("\(path) already exists; use --force to overwrite it")
        : FileError("cannot create \(path)", errno: error)
    }
  }

  deinit {
    if let pending { unlink(pending.temporary) }
    if descriptor >= 0 { close(descriptor) }
  }

  /// Appends all bytes, or none.
  ///
  /// - Throws: `FileError` if the bytes cannot be written; for example, if the disk is full.
  mutating func append(_ bytes: [UInt8]) throws(FileError) {
    let error = bytes.withUnsafeBytes { WholeWrite.write($0, to: descriptor) }
    guard error == 0 else {
      // A part of an update at the end of a recording is useless, so it is removed.
      ftruncate(descriptor, size)
      throw FileError("cannot write \(path)", errno: error, status: 1)
    }
    size += bytes.count
  }

  /// Closes the file and gives it its name.
  ///
  /// - Throws: `FileError` if the system reports only now that the file could not be written, or if
  ///   another program has created a file with this name since the file was opened.
  mutating func finish() throws(FileError) {
    let isClosed = close(descriptor) == 0
    descriptor = -1
    guard isClosed else { throw FileError("cannot write \(path)", errno: errno, status: 1) }
    guard let named = pending else { return }
    // The file gets its name as a second link. Creating a link fails if the name exists, so no
    // other file is overwritten. On a file system without links, the file is renamed.
    var isNamed = !named.replaces && link(named.temporary, named.final) == 0
    if isNamed {
      unlink(named.temporary)
    } else if named.replaces || errno != EEXIST {
      isNamed = rename(named.temporary, named.final) == 0
    }
    guard isNamed else { throw FileError("cannot create \(path)", errno: errno, status: 1) }
    pending = nil
  }

  /// Checks that no file exists at a path, unless an existing file is replaced.
  ///
  /// - Throws: `FileError` if the file exists.
  static func checkAbsence(of path: String, replaces: Bool) throws(FileError) {
    guard replaces || kind(of: path) == nil else {
      throw FileError("\(path) already exists; use --force to overwrite it")
    }
  }

  /// Returns the kind of the file at a path after links were resolved; `nil` if no file exists
  /// there.
  private static func kind(of path: String) -> mode_t? {
    var facts = stat()
    return stat(path, &facts) == 0 ? facts.st_mode & S_IFMT : nil
  }

  /// Returns the path with all links resolved.
  private static func resolved(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}

/// Writes bytes in several steps if the system does not write all of them in one step.
enum WholeWrite {
  /// A function that writes bytes to an open file, like write(2).
  typealias Writer = (Int32, UnsafeRawBufferPointer) -> Int

  /// Writes all bytes. Returns 0 if it succeeds, and otherwise the `errno`.
  static func write(
    _ bytes: UnsafeRawBufferPointer, to file: Int32,
    by writer: Writer = { Glibc.write($0, $1.baseAddress, $1.count) }
  ) -> Int32 {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = writer(file, UnsafeRawBufferPointer(rebasing: rest))
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        return errno
      }
    }
    return 0
  }
}
