// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The text at the beginning of both greetings between a viewer and a relay.
let relayMagic = "OPQRELAY"

extension RelayRequest {
  /// Returns the request as bytes. The length of the message is not included.
  package func encoded() -> [UInt8] {
    var wire = WireRelayRequest()
    switch self {
    case .hello(let versions):
      wire.hello.magic = relayMagic
      wire.hello.versions = WireVersions(versions)
    case .open(let connection, let target):
      wire.open.connection = connection
      wire.open.target = target
    case .message(let message): wire.message = WireRelayedMessage(message)
    case .close(let connection): wire.close = connection
    case .ping(let number): wire.ping = number
    case .unknown: break
    }
    return wire.wireBytes()
  }

  /// Creates a request from its bytes. The bytes must not include the length of the message.
  ///
  /// - Throws: `WireError` if the request is invalid or exceeds ``WireLimits``.
  package init(decoding bytes: [UInt8]) throws(WireError) {
    let wire = try WireRelayRequest(wireBytes: bytes, limit: WireLimits.maximumEnvelopeSize)
    switch wire.content {
    case .hello(let hello):
      guard hello.magic == relayMagic else {
        throw WireError("the other end of the connection is not an opq viewer")
      }
      self = .hello(ProtocolVersions(hello.versions))
    case .open(let opening):
      guard opening.connection > 0, opening.target > 0 else {
        throw WireError("the number of a connection and that of a target are from 1")
      }
      self = .open(connection: opening.connection, target: opening.target)
    case .message(let message): self = .message(try RelayedMessage(message))
    case .close(let connection): self = .close(connection: connection)
    case .ping(let number): self = .ping(number)
    case nil: self = .unknown
    }
  }
}

extension WireRelayedMessage {
  init(_ message: RelayedMessage) {
    self.init()
    connection = message.connection
    self.message = Data(message.bytes)
  }
}

extension RelayedMessage {
  init(_ wire: WireRelayedMessage) throws(WireError) {
    guard wire.message.count <= WireLimits.maximumMessageSize else {
      throw WireError(
        "a message has \(wire.message.count) bytes; the limit is \(WireLimits.maximumMessageSize)")
    }
    self.init(connection: wire.connection, bytes: Array(wire.message))
  }
}
