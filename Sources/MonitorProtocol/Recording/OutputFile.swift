// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

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

  /// Creates an error from what the program could not do, and the `errno` of the system.
  package init(_ words: String, errno code: Int32, status: Int32 = 2) {
    self.init("\(words): \(String(cString: strerror(code)))", status: status)
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
  package init(
    creating path: String, replaces: Bool, _ appearance: Appearance = .atOnce
  ) throws(FileError) {
    (self.path, descriptor) = (path, -1)
    try Self.checkAbsence(of: path, replaces: replaces)
    let kind = Self.kind(of: path)
    if appearance == .atOnce || kind.map({ $0 != S_IFREG }) == true {
      descriptor = Self.aboveStandardStreams(
        open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (replaces ? O_TRUNC : O_EXCL), 0o600))
      if descriptor >= 0, kind == S_IFREG { fchmod(descriptor, 0o600) }
    } else {
      let final = kind == nil ? path : Self.resolved(path)
      let (temporary, descriptor) = Self.createUnique("\(final).")
      self.descriptor = descriptor
      if descriptor >= 0 { pending = (temporary, final, replaces) }
    }
    guard descriptor >= 0 else {
      throw errno == EEXIST
        ? FileError(existing: path)
        : FileError("cannot create \(path)", errno: errno)
    }
  }

  deinit {
    if let pending { unlink(pending.temporary) }
    if descriptor >= 0 { close(descriptor) }
  }

  /// Appends all bytes, or none.
  ///
  /// If the file has reached the size limit of the process, the method throws an error, and the signal
  /// `SIGXFSZ`, whose default action ends the process, does not arrive.
  ///
  /// - Throws: `FileError` if the bytes cannot be written; for example, if the disk is full.
  package mutating func append(_ bytes: [UInt8]) throws(FileError) {
    let error = withoutSizeSignal {
      bytes.withUnsafeBytes { WholeWrite.write($0, to: descriptor) }
    }
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
  package mutating func finish() throws(FileError) {
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
  package static func checkAbsence(of path: String, replaces: Bool) throws(FileError) {
    guard replaces || kind(of: path) == nil else { throw FileError(existing: path) }
  }

  /// Checks, before a file is created, that this is possible as far as it can be known.
  ///
  /// - Throws: `FileError` if the file exists and may not be replaced, or if it or its directory cannot be
  ///   written.
  package static func checkCreatable(_ path: String, replaces: Bool) throws(FileError) {
    try checkAbsence(of: path, replaces: replaces)
    let directory = Self.split(path).directory
    let isThere = kind(of: path) != nil
    guard access(isThere ? path : directory, isThere ? W_OK : W_OK | X_OK) == 0 else {
      throw FileError("cannot create \(path)", errno: errno)
    }
  }

  /// Returns whether the file at a path is a regular file, after links were resolved; `nil` if no file exists there.
  package static func isRegular(_ path: String) -> Bool? { kind(of: path).map { $0 == S_IFREG } }

  /// Returns whether two paths name the same file, which need not exist.
  package static func isSameFile(_ first: String, _ second: String) -> Bool {
    place(of: first) == place(of: second)
  }

  /// Creates a file whose path begins with a text. Only its owner can read and write it.
  ///
  /// - Parameters:
  ///   - stem: The beginning of the path. Six characters follow.
  ///   - flags: The status flags of the descriptor, such as `O_APPEND`.
  /// - Returns: The path and the descriptor of the file. If the file cannot be created, the descriptor is -1, and
  ///   `errno` is set.
  package static func createUnique(
    _ stem: String, flags: Int32 = 0
  ) -> (path: String, descriptor: Int32) {
    var template = Array("\(stem)XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    if descriptor >= 0 {
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(descriptor, F_SETFL, flags)
    }
    let path = template.dropLast().map(UInt8.init(bitPattern:))
    return (String(decoding: path, as: UTF8.self), descriptor)
  }

  /// Returns a descriptor of the same open file that is above 2, and closes the given descriptor if it is not. If a
  /// program was started without a standard stream, the system gives the number of this stream to the next file, and
  /// the program's output would be written to that file.
  ///
  /// - Returns: The descriptor. The result is -1, and `errno` is set, if the given descriptor is -1, or if the system
  ///   has no free descriptors.
  package static func aboveStandardStreams(_ descriptor: Int32) -> Int32 {
    guard (0...STDERR_FILENO).contains(descriptor) else { return descriptor }
    let moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
    let error = errno
    close(descriptor)
    errno = error
    return moved
  }

  /// Returns the path of a file with all links resolved. The file need not exist.
  private static func place(of path: String) -> String {
    guard kind(of: path) == nil else { return resolved(path) }
    let (directory, name) = split(path)
    return "\(resolved(directory))/\(name)"
  }

  /// Returns the path of the directory of a file, and the name of the file.
  private static func split(_ path: String) -> (directory: String, name: Substring) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    let directory = parts.count > 1 ? parts.dropLast().joined(separator: "/") + "/" : "."
    return (directory, parts.last ?? "")
  }

  /// Returns the kind of the file at a path after links were resolved; `nil` if no file exists
  /// there.
  private static func kind(of path: String) -> mode_t? {
    var facts = stat()
    return stat(path, &facts) == 0 ? facts.st_mode & S_IFMT : nil
  }

  /// Returns the path with all links resolved.
  package static func resolved(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}

/// Calls a closure that writes to a file. The system sends `SIGXFSZ` to the thread that writes beyond the size
/// limit of files. During the call, the thread blocks this signal, and the function removes the signal before the
/// thread unblocks it. Therefore no other thread and no other file of the process is affected.
private func withoutSizeSignal<Result>(_ body: () -> Result) -> Result {
  var sizeSignal = sigset_t()
  var old = sigset_t()
  sigemptyset(&sizeSignal)
  sigaddset(&sizeSignal, SIGXFSZ)
  pthread_sigmask(SIG_BLOCK, &sizeSignal, &old)
  let result = body()
  if sigismember(&old, SIGXFSZ) == 0 {
    var noTime = timespec()
    while sigtimedwait(&sizeSignal, nil, &noTime) == SIGXFSZ {}
    pthread_sigmask(SIG_SETMASK, &old, nil)
  }
  return result
}

/// Writes bytes in several steps if the system does not write all of them in one step.
package enum WholeWrite {
  /// A function that writes bytes to an open file, like write(2).
  package typealias Writer = (Int32, UnsafeRawBufferPointer) -> Int

  /// Writes all bytes. Returns 0 if it succeeds, and otherwise the `errno`.
  package static func write(
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
