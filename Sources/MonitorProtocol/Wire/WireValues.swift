// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import SwiftProtobuf

/// Both greetings begin with it.
let wireMagic = "OPQMON"

extension SwiftProtobuf.Message {
  /// The bytes of the message.
  func wireBytes() -> [UInt8] {
    // Fails where a required field is missing, which this syntax does not know, or beyond 2 GiB. Who gets
    // nothing skips it.
    (try? serializedBytes()) ?? []
  }

  /// Reads a message that came as a frame.
  init(wireBytes bytes: [UInt8]) throws(WireError) {
    guard bytes.count <= WireLimits.maximumFrame else {
      throw WireError(
        "a message of \(bytes.count) bytes is longer than \(WireLimits.maximumFrame)")
    }
    var options = BinaryDecodingOptions()
    options.messageDepthLimit = WireLimits.mostDepth
    options.discardUnknownFields = true
    do {
      try self.init(serializedBytes: bytes, options: options)
    } catch {
      throw WireError("a message is damaged: \(Self.reason(of: error))")
    }
  }

  private static func reason(of error: any Error) -> String {
    switch error as? BinaryDecodingError {
    case .truncated: "it ends too early"
    case .invalidUTF8: "a text in it is not UTF-8"
    case .messageDepthLimit: "it holds messages in messages too deeply"
    case .trailingGarbage, .malformedProtobuf, .missingRequiredFields, .internalExtensionError,
      nil:
      "it does not follow the format"
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

// MARK: - Numbers that only are shown: what is out of range is moved into it

extension Int {
  /// A number of things that a process has told.
  init(wireCount: Int64) { self = Int(wireCount.clamped(to: 0...WireLimits.largestCount)) }
}

extension MonitorTime {
  init(wire: Int64) { self.init(nanoseconds: wire.clamped(to: WireLimits.times)) }
}

extension Duration {
  init(wire: Int64) { self = .nanoseconds(wire.clamped(to: WireLimits.times)) }
}

extension Comparable {
  /// The value, or the end of the range that it lies beyond.
  func clamped(to range: ClosedRange<Self>) -> Self {
    max(range.lowerBound, min(self, range.upperBound))
  }
}

// MARK: - Texts

extension String {
  /// The text, or as much of it, with "…" behind, as ``WireLimits/longestText`` allows. Looks at no more
  /// than that.
  var wireText: String {
    let ending = "…"
    guard utf8.count > WireLimits.longestText else { return self }
    var start = String(
      decoding: utf8.prefix(WireLimits.longestText - ending.utf8.count), as: UTF8.self)
    // The last character may have been cut in two, and the bytes of its last scalar too. Where it is the
    // only one, so be it.
    while let scalar = start.unicodeScalars.last, scalar == "\u{FFFD}" {
      start.unicodeScalars.removeLast()
    }
    let whole = start.dropLast()
    return (whole.isEmpty ? start : String(whole)) + ending
  }
}
