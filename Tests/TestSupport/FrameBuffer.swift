// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Received bytes, and the frames in them: each has a length of four bytes, the lowest first, and
/// that number of bytes.
package struct FrameBuffer {
  private var bytes: [UInt8] = []

  /// Creates an empty buffer.
  package init() {}

  /// Appends received bytes.
  package mutating func append(_ more: some Sequence<UInt8>) { bytes += more }

  /// Removes and returns the next frame without its length; `nil` if it is incomplete.
  package mutating func takeFrame() -> [UInt8]? {
    guard bytes.count >= 4 else { return nil }
    let length = bytes.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    guard bytes.count >= 4 + length else { return nil }
    defer { bytes.removeFirst(4 + length) }
    return Array(bytes[4..<4 + length])
  }
}
