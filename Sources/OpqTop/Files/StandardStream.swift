// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The standard output and the standard error stream, without buffers.
enum StandardStream: Int32 {
  case output = 1
  case error = 2

  /// Whether the stream is a terminal.
  var isTerminal: Bool { isatty(rawValue) == 1 }

  /// Writes all bytes of a text. Returns 0 if it succeeds, and otherwise the `errno`; `EPIPE` means
  /// that the reader has closed the stream.
  @discardableResult
  func write(_ text: String) -> Int32 {
    var text = text
    return text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
  }

  /// Writes all bytes. Returns 0 if it succeeds, and otherwise the `errno`.
  func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    var rest = bytes[...]
    while let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
      let count = Glibc.write(rawValue, start, rest.count)
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        // The stream is non-blocking, because another process that shares it has set this mode.
        // The loop waits until the stream accepts more bytes.
        var entry = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
        _ = poll(&entry, 1, -1)
      } else if errno != EINTR {
        return errno
      }
    }
    return 0
  }
}
