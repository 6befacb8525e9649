// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension ViewerMessage {
  /// Returns the message as bytes. The length of the message is not included.
  ///
  /// If an ``Interest`` exceeds ``WireLimits``, its values are reduced to the limits. A command
  /// with too many operations is not reduced, and neither is a filter that is too long. The monitor
  /// refuses such a message.
  public func encoded() -> [UInt8] {
    var wire = WireViewerMessage()
    switch self {
    case .hello(let hello): wire.hello = WireViewerHello(hello)
    case .watch(let interest, let interval): wire.watch = WireWatch(interest, interval: interval)
    case .command(let command, let token): wire.command = WireCommand(command, token: token)
    case .credit(let count): wire.credit = UInt32(clamping: count)
    case .ping(let number): wire.ping = number
    case .bye(let reason): wire.bye.reason = reason.wireText
    case .unknown: break
    }
    return wire.wireBytes()
  }

  /// Creates a message from its bytes. The bytes must not include the length of the message.
  ///
  /// - Throws: `WireError` if the message is invalid or exceeds ``WireLimits``.
  public init(decoding bytes: [UInt8]) throws(WireError) {
    switch try WireViewerMessage(wireBytes: bytes).content {
    case .hello(let hello): self = .hello(try ViewerHello(hello))
    case .watch(let watch):
      self = .watch(try Interest(watch.interest), interval: try Self.interval(watch.interval))
    case .command(let command):
      guard let known = try MonitorCommand(command) else {
        self = .unknown
        return
      }
      self = .command(known, token: command.token)
    case .credit(let count):
      self = .credit(try checked(Int64(count), in: 1...WireLimits.mostCredit, "a credit"))
    case .ping(let number): self = .ping(number)
    case .bye(let farewell): self = .bye(reason: farewell.reason.wireText)
    case nil: self = .unknown
    }
  }

  private static func interval(_ nanoseconds: Int64) throws(WireError) -> Duration {
    let interval = Duration.nanoseconds(nanoseconds)
    guard interval >= WireLimits.shortestInterval, interval <= WireLimits.longestInterval else {
      throw WireError(
        """
        an interval of \(interval) is not between \(WireLimits.shortestInterval) and \
        \(WireLimits.longestInterval)
        """)
    }
    return interval
  }
}

/// Returns a number that a viewer has sent. Throws an error if the number is out of range.
func checked(
  _ number: Int64, in range: ClosedRange<Int>, _ what: String
) throws(WireError) -> Int {
  guard let number = Int(exactly: number), range.contains(number) else {
    throw WireError(
      "\(what) of \(number) is not between \(range.lowerBound) and \(range.upperBound)")
  }
  return number
}

/// Returns the ids of operations that a viewer has sent. Throws an error if their number exceeds
/// the limit.
func checked(
  _ ids: [UInt64], most: Int, _ what: String
) throws(WireError) -> [OperationReport.ID] {
  guard ids.count <= most else {
    throw WireError("\(what) names \(ids.count) operations; the limit is \(most)")
  }
  return ids.map { OperationReport.ID($0) }
}

extension WireViewerHello {
  init(_ hello: ViewerHello) {
    self.init()
    magic = wireMagic
    versions = WireVersions(hello.versions)
    processID = hello.processID
    isReadOnly = hello.isReadOnly
  }
}

extension ViewerHello {
  init(_ wire: WireViewerHello) throws(WireError) {
    guard wire.magic == wireMagic else {
      throw WireError("the other end of the connection is not an opq viewer")
    }
    self.init(
      versions: ProtocolVersions(wire.versions), processID: wire.processID,
      isReadOnly: wire.isReadOnly)
  }
}

extension WireWatch {
  init(_ interest: Interest, interval: Duration) {
    self.init()
    self.interest = WireInterest(interest)
    self.interval =
      interval.clamped(to: WireLimits.shortestInterval...WireLimits.longestInterval)
      .saturatedNanoseconds
  }
}
