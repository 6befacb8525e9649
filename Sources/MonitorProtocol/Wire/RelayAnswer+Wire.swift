// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension RelayAnswer {
  /// Returns the answer as bytes. The length of the message is not included.
  ///
  /// If a greeting exceeds the limits, its last targets are left out.
  package func encoded() -> [UInt8] {
    var wire = WireRelayAnswer()
    switch self {
    case .greeting(let targets, let versions):
      wire.greeting.magic = relayMagic
      wire.greeting.versions = WireVersions(versions)
      wire.greeting.targets = WireRelayTarget.all(targets)
    case .message(let message): wire.message = WireRelayedMessage(message)
    case .end(let connection, let refusal):
      wire.end.connection = connection
      wire.end.refusal = WireRelayRefusal(refusal)
    case .pong(let number): wire.pong = number
    case .bye(let farewell): wire.bye = WireFarewell(farewell)
    case .unknown: break
    }
    return wire.wireBytes()
  }

  /// Creates an answer from its bytes. The bytes must not include the length of the message.
  ///
  /// - Throws: `WireError` if the answer is invalid or exceeds ``WireLimits``.
  package init(decoding bytes: [UInt8]) throws(WireError) {
    // Only a damaged answer is empty. An answer that only newer versions know has bytes.
    guard !bytes.isEmpty else { throw WireError("a message of the relay is empty") }
    let wire = try WireRelayAnswer(wireBytes: bytes, limit: WireLimits.maximumEnvelopeSize)
    switch wire.content {
    case .greeting(let greeting):
      guard greeting.magic == relayMagic else {
        throw WireError("the other end of the connection is not an opq relay")
      }
      self = .greeting(
        try Self.targets(greeting.targets), versions: ProtocolVersions(greeting.versions))
    case .message(let message): self = .message(try RelayedMessage(message))
    case .end(let end): self = .end(connection: end.connection, RelayRefusal(end.refusal))
    case .pong(let number): self = .pong(number)
    case .bye(let farewell): self = .bye(Farewell(farewell))
    case nil: self = .unknown
    }
  }

  private static func targets(_ wire: [WireRelayTarget]) throws(WireError) -> [RelayTarget] {
    guard wire.count <= WireLimits.mostRelayTargets else {
      throw WireError(
        "the relay names \(wire.count) processes; the limit is \(WireLimits.mostRelayTargets)")
    }
    var targets: [RelayTarget] = []
    for target in wire { targets.append(try RelayTarget(target)) }
    return targets
  }
}

extension WireRelayTarget {
  /// Returns the first targets: at most ``WireLimits/mostRelayTargets``, and at most as many as a message can contain.
  static func all(_ targets: [RelayTarget]) -> [Self] {
    var wire: [Self] = []
    var room = WireLimits.mostRelayTargetBytes
    for target in targets.prefix(WireLimits.mostRelayTargets) {
      let next = Self(target)
      // All other bytes of a target, such as its id, are at most 32.
      room -= next.path.utf8.count + next.refusal.reason.utf8.count + 32
      guard room >= 0 else { break }
      wire.append(next)
    }
    return wire
  }

  private init(_ target: RelayTarget) {
    self.init()
    processID = target.processID
    path = target.path.wireText
    if let refusal = target.refusal { self.refusal = WireRelayRefusal(refusal) }
    isFound = target.isFound
  }
}

extension RelayTarget {
  init(_ wire: WireRelayTarget) throws(WireError) {
    // The viewer passes this path to the next relay as an argument. An argument cannot contain a zero byte.
    guard wire.path.utf8.count <= WireLimits.longestText, !wire.path.utf8.contains(0) else {
      throw WireError("the relay names a socket with an invalid path")
    }
    guard wire.processID >= 0 else {
      throw WireError("the relay names a process with the id \(wire.processID)")
    }
    self.init(
      processID: wire.processID, path: wire.path,
      refusal: wire.hasRefusal ? RelayRefusal(wire.refusal) : nil, isFound: wire.isFound)
  }
}

extension WireRelayRefusal {
  init(_ refusal: RelayRefusal) {
    self.init()
    cause =
      switch refusal.cause {
      case .lost: .unspecified
      case .nothingThere: .nothingThere
      case .denied: .denied
      }
    reason = refusal.reason.wireText
    processHasEnded = refusal.hasProcessEnded
  }
}

extension RelayRefusal {
  init(_ wire: WireRelayRefusal) {
    let cause: Cause =
      switch wire.cause {
      case .nothingThere: .nothingThere
      case .denied: .denied
      case .unspecified, .UNRECOGNIZED: .lost
      }
    self.init(cause, wire.reason.wireText, hasProcessEnded: wire.processHasEnded)
  }
}
