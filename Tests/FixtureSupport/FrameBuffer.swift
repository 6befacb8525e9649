// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A buffer of received bytes, from which frames are taken. A frame consists of its length in four
/// bytes, the least significant byte first, and of that number of bytes.
package struct FrameBuffer {
  private var bytes: [UInt8] = []

  /// Creates an empty buffer.
  package init() {}

  /// Appends received bytes.
  package mutating func append(_ more: some Sequence<UInt8>) { bytes += more }

  /// Removes the next frame and returns its bytes without the length; `nil` if the buffer contains
  /// no complete frame.
  package mutating func takeFrame() -> [UInt8]? {
    guard bytes.count >= 4 else { return nil }
    let length = bytes.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    guard bytes.count >= 4 + length else { return nil }
    defer { bytes.removeFirst(4 + length) }
    return Array(bytes[4..<4 + length])
  }
}
