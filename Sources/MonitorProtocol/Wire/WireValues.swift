// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import SwiftProtobuf

/// The text at the beginning of the greeting of a process and of the greeting of a viewer.
let wireMagic = "OPQMON"

extension SwiftProtobuf.Message {
  /// The bytes of the message.
  func wireBytes() -> [UInt8] {
    // Serialization fails above 2 GiB, or if a required field is missing. These messages have no
    // required fields. If serialization fails, the result is an empty message, and the receiver
    // skips it.
    (try? serializedBytes()) ?? []
  }

  /// Creates a message from its bytes.
  ///
  /// - Throws: `WireError` if there are more bytes than `limit`, or if the bytes are not a valid message.
  init(
    wireBytes bytes: [UInt8], limit: Int = WireLimits.maximumMessageSize
  ) throws(WireError) {
    guard bytes.count <= limit else {
      throw WireError("a message has \(bytes.count) bytes; the limit is \(limit)")
    }
    var options = BinaryDecodingOptions()
    options.messageDepthLimit = WireLimits.mostDepth
    options.discardUnknownFields = true
    do {
      try self.init(serializedBytes: bytes, options: options)
    } catch {
      throw WireError("\(Self.reason(of: error))")
    }
  }

  private static func reason(of error: any Error) -> String {
    switch error as? BinaryDecodingError {
    case .truncated: "a message is truncated"
    case .invalidUTF8: "a message is damaged: a text is not UTF-8"
    case .messageDepthLimit: "a message is nested too deeply"
    case .trailingGarbage, .malformedProtobuf, .missingRequiredFields, .internalExtensionError,
      nil:
      "a message is damaged: it does not follow the protocol's format"
    }
  }
}

extension WireVersions {
  init(_ versions: ProtocolVersions) {
    self.init()
    major = versions.major
    minor = versions.minor
  }
}

extension ProtocolVersions {
  init(_ wire: WireVersions) { self.init(major: wire.major, minor: wire.minor) }
}

// MARK: - Numbers that are only displayed, clamped to their range

extension Int {
  /// Creates a count from a number that a process has sent.
  init(wireCount: Int64) { self = Int(wireCount.clamped(to: 0...WireLimits.largestCount)) }
}

extension MonitorTime {
  init(wire: Int64) { self.init(nanoseconds: wire.clamped(to: WireLimits.times)) }
}

extension Duration {
  init(wire: Int64) { self = .nanoseconds(wire.clamped(to: WireLimits.times)) }
}

extension Comparable {
  /// Returns the value, clamped to a range.
  func clamped(to range: ClosedRange<Self>) -> Self {
    max(range.lowerBound, min(self, range.upperBound))
  }
}

// MARK: - Texts

extension String {
  /// The text for a message; at most ``WireLimits/longestText`` bytes of it.
  package var wireText: String { truncated(toBytes: WireLimits.longestText) }

  /// The size in bytes of ``wireText`` in a list of names of a message, with a tag and a length before it.
  package var wireNameSize: Int { wireText.utf8.count + 4 }

  /// The text of an error for a message; at most ``WireLimits/longestErrorText`` bytes of it.
  package var wireErrorText: String { truncated(toBytes: WireLimits.longestErrorText) }

  /// The text of a log line for a message; at most ``LogLine/longestText`` bytes of it.
  var wireLogText: String { truncated(toBytes: LogLine.longestText) }

  /// Returns the text. If it exceeds a limit in bytes of UTF-8, the result is its beginning and "…". The
  /// bytes after the limit are not read.
  private func truncated(toBytes limit: Int) -> String {
    let ending = "…"
    guard utf8.count > limit else { return self }
    var start = String(decoding: utf8.prefix(limit - ending.utf8.count), as: UTF8.self)
    // The limit may divide the last character, or the bytes of its last Unicode scalar. Therefore
    // an incomplete scalar is removed. Then the last character is removed, unless it is the only
    // character.
    while let scalar = start.unicodeScalars.last, scalar == "\u{FFFD}" {
      start.unicodeScalars.removeLast()
    }
    let whole = start.dropLast()
    return (whole.isEmpty ? start : String(whole)) + ending
  }
}
