// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension ProcessMessage {
  /// Returns the message as bytes. The length of the message is not included.
  ///
  /// ``UpdateParts`` divides an update into parts. Each part fits into one message.
  public func encoded() -> [UInt8] {
    var wire = WireProcessMessage()
    switch self {
    case .hello(let hello, let versions): wire.hello = WireProcessHello(hello, versions: versions)
    case .updatePart(let part): wire.updatePart = WireUpdatePart(part)
    case .commandResult(let token, let outcomes, let dependents, let refusals):
      wire.commandResult.token = token
      wire.commandResult.outcomes = outcomes.map { WireCommandResult.Outcome($0) }
      wire.commandResult.dependents = dependents.map(\.rawValue)
      wire.commandResult.refusals = WireCommandResult.Refusal.all(refusals)
    case .pong(let number): wire.pong = number
    case .bye(let farewell): wire.bye = WireFarewell(farewell)
    case .unknown: break
    }
    return wire.wireBytes()
  }

  /// Creates a message from its bytes. The bytes must not include the length of the message.
  ///
  /// Times, durations and counts are clamped to a range that is safe for arithmetic.
  ///
  /// - Throws: `WireError` if the message is invalid.
  public init(decoding bytes: [UInt8]) throws(WireError) {
    switch try WireProcessMessage(wireBytes: bytes).content {
    case .hello(let hello):
      self = .hello(try Hello(hello), versions: ProtocolVersions(hello.versions))
    case .updatePart(let part): self = .updatePart(UpdatePart(part, byteCount: bytes.count))
    case .commandResult(let result):
      self = .commandResult(
        token: result.token, outcomes: result.outcomes.map { CommandResult.Outcome($0) },
        dependents: result.dependents.map { OperationReport.ID($0) },
        refusals: Dictionary(
          result.refusals.map { (Int($0.index), $0.reason.wireText) },
          uniquingKeysWith: { first, _ in first }))
    case .pong(let number): self = .pong(number)
    case .bye(let farewell): self = .bye(Farewell(farewell))
    case nil: self = .unknown
    }
  }
}

extension WireProcessHello {
  init(_ hello: Hello, versions: ProtocolVersions) {
    self.init()
    magic = wireMagic
    self.versions = WireVersions(versions)
    processName = hello.processName.wireText
    processID = hello.processID
    isReadOnly = hello.isReadOnly
    anchor = hello.anchor.nanoseconds
    anchorSecondsSince1970 = hello.anchorSecondsSince1970
    processStarted = hello.processStarted.nanoseconds
    bootID = hello.bootID.wireText
    totalCount = Int64(hello.totalCount)
    startTicks = hello.startTicks
    canRetry = hello.canRetry
  }
}

extension Hello {
  init(_ wire: WireProcessHello) throws(WireError) {
    guard wire.magic == wireMagic else {
      throw WireError("the other end of the connection is not an opq monitor")
    }
    self.init(
      processName: wire.processName.wireText, processID: wire.processID,
      isReadOnly: wire.isReadOnly,
      anchor: MonitorTime(wire: wire.anchor),
      anchorSecondsSince1970: wire.anchorSecondsSince1970.isFinite
        ? wire.anchorSecondsSince1970 : 0,
      processStarted: MonitorTime(wire: wire.processStarted))
    bootID = wire.bootID.wireText
    totalCount = Int(wireCount: wire.totalCount)
    startTicks = wire.startTicks
    canRetry = wire.canRetry
  }
}

extension WireFarewell {
  init(_ farewell: Farewell) {
    self.init()
    cause =
      switch farewell.cause {
      case .processEnds: .processEnds
      case .versionMismatch: .versionMismatch
      case .tooManyViewers: .tooManyViewers
      case .malformedMessage: .malformedMessage
      case .unknown: .unspecified
      }
    reason = farewell.reason.wireText
    versions = WireVersions(farewell.versions)
  }
}

extension Farewell {
  init(_ wire: WireFarewell) {
    let cause: Cause =
      switch wire.cause {
      case .processEnds: .processEnds
      case .versionMismatch: .versionMismatch
      case .tooManyViewers: .tooManyViewers
      case .malformedMessage: .malformedMessage
      case .unspecified, .UNRECOGNIZED: .unknown
      }
    self.init(
      cause: cause, reason: wire.reason.wireText, versions: ProtocolVersions(wire.versions))
  }
}
