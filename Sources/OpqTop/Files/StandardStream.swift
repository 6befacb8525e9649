// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem

/// The standard output and the standard error stream, without buffers.
enum StandardStream: Int32 {
  case output = 1
  case error = 2

  /// The error number of a write if the reader has closed the stream.
  static let brokenPipe = cmonitor_error_broken_pipe

  /// Whether the stream is a terminal.
  var isTerminal: Bool { cmonitor_is_terminal(rawValue) }

  /// Writes all bytes of a text. Returns 0 if it succeeds, and otherwise the error number, for example
  /// ``brokenPipe``.
  @discardableResult
  func write(_ text: String) -> Int32 {
    var text = text
    return text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
  }

  /// Writes all bytes. If the stream is non-blocking, because another process that shares it has set this
  /// mode, waits until it accepts more bytes. Returns 0 if it succeeds, and otherwise the error number.
  func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    cmonitor_write_all(rawValue, bytes.baseAddress, bytes.count, true)
  }
}
