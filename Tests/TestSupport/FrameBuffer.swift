// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Bytes as a socket gave them, and the frames in them: each a length of four bytes, the lowest first,
/// and so many bytes.
package struct FrameBuffer {
  private var bytes: [UInt8] = []

  /// Creates an empty one.
  package init() {}

  /// Takes in what came next.
  package mutating func append(_ more: some Sequence<UInt8>) { bytes += more }

  /// The next frame without its length; `nil` while it is not whole.
  package mutating func takeFrame() -> [UInt8]? {
    guard bytes.count >= 4 else { return nil }
    let length = bytes.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    guard bytes.count >= 4 + length else { return nil }
    defer { bytes.removeFirst(4 + length) }
    return Array(bytes[4..<4 + length])
  }
}
