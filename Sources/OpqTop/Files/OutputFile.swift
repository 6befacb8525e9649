// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc

/// Why a file cannot be written or read.
struct FileError: Error, CustomStringConvertible {
  /// One sentence without a full stop.
  let description: String
  /// The exit status that says the same.
  let status: Int32

  init(_ description: String, status: Int32 = 2) {
    self.description = description
    self.status = status
  }

  init(_ words: String, errno code: Int32, status: Int32 = 2) {
    self.init("\(words): \(String(cString: strerror(code)))", status: status)
  }
}

/// A file that is written from its beginning to its end, and that its owner alone may read.
struct OutputFile: ~Copyable {
  /// When what is written has its name.
  enum Appearance {
    /// From the beginning: what there is of it is of use.
    case atOnce
    /// When ``finish()`` is called: before that whatever had the name has it.
    case whenWhole
  }

  let path: String
  /// How many bytes it has.
  private(set) var size = 0
  /// -1 when it is closed.
  private var descriptor: Int32
  /// What has to be given the name yet; `nil` where it has it.
  private var pending: (temporary: String, final: String, replaces: Bool)?

  /// Creates the file.
  ///
  /// - Parameters:
  ///   - path: Where.
  ///   - replaces: Whether a file that is there already is replaced. What is no file, such as a device, is
  ///     written to.
  ///   - appearance: When it has its name.
  /// - Throws: A sentence where it cannot be made, or is there already.
  init(
    creating path: String, replaces: Bool, _ appearance: Appearance = .atOnce
  ) throws(FileError) {
    (self.path, descriptor) = (path, -1)
    let kind = Self.kind(of: path)
    guard kind == nil || replaces else {
      throw FileError("\(path) is there already; --force writes over it")
    }
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
        ? FileError("\(path) is there already; --force writes over it")
        : FileError("cannot create \(path)", errno: error)
    }
  }

  deinit {
    if let pending { unlink(pending.temporary) }
    if descriptor >= 0 { close(descriptor) }
  }

  /// Writes bytes behind the others: all of them, or none.
  ///
  /// - Throws: A sentence where there is no room, or the file takes no more for another reason.
  mutating func append(_ bytes: [UInt8]) throws(FileError) {
    let error = bytes.withUnsafeBytes { WholeWrite.write($0, to: descriptor) }
    guard error == 0 else {
      // Half of a recording's update would do no harm, but says nothing either.
      ftruncate(descriptor, size)
      throw FileError("cannot write \(path)", errno: error, status: 1)
    }
    size += bytes.count
  }

  /// Ends the file, and gives it its name.
  ///
  /// - Throws: A sentence where the system says only now that it could not be written, or another file has
  ///   got the name.
  mutating func finish() throws(FileError) {
    let isClosed = close(descriptor) == 0
    descriptor = -1
    guard isClosed else { throw FileError("cannot write \(path)", errno: errno, status: 1) }
    guard let named = pending else { return }
    // A link is not made where there is something already. Some file systems make none at all.
    var isNamed = !named.replaces && link(named.temporary, named.final) == 0
    if isNamed {
      unlink(named.temporary)
    } else if named.replaces || errno != EEXIST {
      isNamed = rename(named.temporary, named.final) == 0
    }
    guard isNamed else { throw FileError("cannot create \(path)", errno: errno, status: 1) }
    pending = nil
  }

  /// What there is at a path, behind links; `nil` for nothing.
  private static func kind(of path: String) -> mode_t? {
    var facts = stat()
    return stat(path, &facts) == 0 ? facts.st_mode & S_IFMT : nil
  }

  /// Where the links of a path end.
  private static func resolved(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}

/// Writing until all is written.
enum WholeWrite {
  /// Writes into an open file as write(2) does.
  typealias Writer = (Int32, UnsafeRawBufferPointer) -> Int

  /// Writes all bytes; returns 0, or the `errno` of what stopped it.
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
