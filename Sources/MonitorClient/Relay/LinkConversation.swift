// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The state of the viewer's end of a link. This type uses neither a command nor a clock.
struct LinkConversation {
  /// An action that the link must carry out.
  enum Action: Equatable {
    /// The link must start the command with these arguments of the relay.
    case start(arguments: [String])
    /// The link must send this request to the relay.
    case send(RelayRequest)
    /// The link must report the targets of the first connection to the relay.
    case greet([RelayedTarget])
    /// The link must report that the first connection to the relay has failed.
    case refuse(AttachError)
    /// The link must report that the connection to a process can send messages.
    case begin(connection: UInt32)
    /// The link must pass this message to the receiver of its connection.
    case deliver(RelayedMessage)
    /// The link must report that the connection has ended.
    case end(connection: UInt32, TransportEnd)
    /// The link must end the command and wait for its end.
    case finish
    /// The link must end the command and ignore its further events. If `kills` is `true`, the link must kill the
    /// command at once.
    case abandon(kills: Bool)
  }

  private enum Phase: Equatable {
    /// The command does not run.
    case idle
    /// The command runs, and its preamble is incomplete.
    case starting
    /// The relay has not sent its greeting.
    case greeting
    /// The relay has sent its greeting.
    case open
    /// The command was asked to end, because it is not a relay.
    case refusing
    /// The viewer has ended the link.
    case over
  }

  /// A connection to a process.
  private struct Connection {
    let number: Int
    /// Whether the relay was asked to connect.
    var isOpen = false
  }

  /// The maximum time from the start of the command until the preamble is complete, and from then on until the greeting
  /// has arrived, unless the relay awaits a process.
  private static let startPatience = Duration.seconds(10)
  /// The maximum time in which a relay sends no bytes. It is less than 10 s, so that a loss is reported within 10 s
  /// even if a check is late.
  private static let patience = Duration.seconds(8)

  /// The maximum time between two pings. A relay that receives nothing for ``Relay/patience`` ends.
  static let longestPause = Duration.seconds(15)

  /// The maximum number of messages for closed connections while the relay answers no ping. A relay sends a few for each
  /// connection, because a viewer requests a few updates at a time.
  static let mostLateMessages = 100_000

  private let place: RemotePlace
  private let arguments: [String]
  private var phase = Phase.idle
  private var connections: [UInt32: Connection] = [:]
  private var lastConnection: UInt32 = 0
  /// The last connection that the running relay was asked to open; 0 if there is none.
  private var lastOpened: UInt32 = 0
  /// The number of the last ping before the last close of a connection. The value is `nil` if no connection was closed,
  /// or if the relay has answered a later ping. Then the relay has received the close, and sends nothing for a closed
  /// connection.
  private var lastPingBeforeClose: UInt64?
  /// The number of messages for closed connections since the relay has answered a ping.
  private var lateCount = 0
  /// The targets of the first connection to the relay; `nil` before it.
  private var targets: [RelayedTarget]?
  /// The targets of the present connection to the relay.
  private var presentTargets: [RelayTarget] = []
  /// Whether the result of the first connection to the relay is known.
  private var isDecided = false
  /// Whether the argument `--wait` was passed to the running relay. Such a relay sends its greeting when the process
  /// listens.
  private var awaitsProcess = false
  /// Detects whether the command sends bytes; `nil` if it does not run or was asked to end.
  private var silence: Silence?
  /// Whether messages have arrived since the last call of ``hear(at:)``, and whether this version knows one of them.
  private var heard: (anything: Bool, known: Bool) = (false, false)
  private var lastPing: UInt64 = 0
  /// The number of the last ping that was answered. At the start of the command, it is the number of the last ping.
  private var lastPong: UInt64 = 0
  /// The time of the last ping. Before the first ping, it is the time of the viewer's greeting.
  private var lastPingTime = MonitorTime(nanoseconds: 0)

  /// Creates the state of a link whose command does not run.
  ///
  /// - Parameters:
  ///   - place: The place of the relay.
  ///   - arguments: The arguments of the relay for the first connection.
  init(_ place: RemotePlace, arguments: [String]) {
    self.place = place
    self.arguments = arguments
  }

  // MARK: The viewer

  /// Starts the command if it does not run.
  mutating func connect(at now: MonitorTime) -> [Action] {
    guard phase == .idle else { return [] }
    phase = .starting
    silence = Silence(at: now)
    lastPong = lastPing
    let arguments = presentArguments
    awaitsProcess = arguments.first?.hasPrefix("--wait=") == true
    return [.start(arguments: arguments)]
  }

  /// The arguments of the relay. After the first connection, they are the sockets of the targets, so that the relay
  /// has the same targets.
  private var presentArguments: [String] {
    let paths = targets?.filter { $0.refusal == nil && !$0.path.isEmpty }.map(\.path) ?? []
    return paths.isEmpty ? arguments : ["--"] + paths
  }

  /// Creates a connection to the target with a number.
  ///
  /// - Returns: The number of the connection.
  mutating func makeConnection(to number: Int) -> UInt32 {
    lastConnection += 1
    connections[lastConnection] = Connection(number: number)
    return lastConnection
  }

  /// Opens a connection as soon as the relay has sent its greeting. Starts the command if it does not run.
  mutating func open(_ connection: UInt32, at now: MonitorTime) -> [Action] {
    switch phase {
    case .idle: return connect(at: now)
    case .starting, .greeting, .refusing: return []
    case .open: return open(connection)
    case .over:
      connections[connection] = nil
      return [.end(connection: connection, TransportEnd(Self.closed))]
    }
  }

  /// The error for a connection that is requested after the end of the link. The error is final, so that the session
  /// does not reconnect.
  private static let closed = AttachError(.closed, "the viewer has closed the connection")
  private static let closing = AttachError(.lost, "the viewer is closing the connection")

  private mutating func open(_ connection: UInt32) -> [Action] {
    guard let number = connections[connection]?.number else { return [] }
    do throws(TransportEnd) {
      let position = try position(of: number)
      connections[connection]?.isOpen = true
      lastOpened = connection
      return [
        .send(.open(connection: connection, target: UInt32(position))),
        .begin(connection: connection),
      ]
    } catch {
      connections[connection] = nil
      return [.end(connection: connection, error)]
    }
  }

  /// Returns the position of a target among the present targets of the relay.
  private func position(of number: Int) throws(TransportEnd) -> Int {
    guard let targets, targets.indices.contains(number - 1) else {
      throw Self.missing("opq-top on \(place.shownName) has no process for this argument")
    }
    let target = targets[number - 1]
    if let refusal = target.refusal { throw TransportEnd(refusal) }
    let index = presentTargets.firstIndex { $0.path == target.path }
    guard let index else { throw Self.missing("the process has ended", hasProcessEnded: true) }
    if let refusal = presentTargets[index].refusal { throw TransportEnd(refusal) }
    return index + 1
  }

  private static func missing(_ reason: String, hasProcessEnded: Bool = false) -> TransportEnd {
    TransportEnd(AttachError(.nothingThere, reason), hasProcessEnded: hasProcessEnded)
  }

  /// Sends a message on a connection. If the connection is not open, the message is discarded.
  func send(_ message: [UInt8], on connection: UInt32) -> [Action] {
    guard phase == .open, connections[connection]?.isOpen == true else { return [] }
    return [.send(.message(RelayedMessage(connection: connection, bytes: message)))]
  }

  /// Closes a connection. A second call does nothing.
  mutating func close(_ connection: UInt32) -> [Action] {
    let closed = connections.removeValue(forKey: connection)
    guard phase == .open, closed?.isOpen == true else { return [] }
    lastPingBeforeClose = lastPing
    return [.send(.close(connection: connection))]
  }

  /// Ends the link. A second call does nothing.
  mutating func invalidate() -> [Action] {
    guard phase != .over else { return [] }
    let isRunning = phase != .idle
    // A relay that has sent its greeting ends when its input ends. Before that, it forwards the last messages.
    let kills = phase != .open
    let actions = fail(Self.closing)
    phase = .over
    return (isRunning ? [.abandon(kills: kills)] : []) + actions
  }

  // MARK: The command

  /// Handles the complete preamble.
  mutating func takePreamble(at now: MonitorTime) -> [Action] {
    guard phase == .starting else { return [] }
    phase = .greeting
    silence = Silence(at: now)
    lastPingTime = now
    return [.send(.hello(.current))]
  }

  /// Handles the first line of a text instead of the preamble.
  mutating func takeText() -> [Action] {
    guard phase == .starting else { return [] }
    phase = .refusing
    silence = nil
    return [.finish]
  }

  /// Handles the end of the command, which may have failed to start.
  ///
  /// - Parameter error: The error to report if the relay has not sent its greeting.
  /// - Returns: The actions that the link must carry out.
  mutating func end(_ error: AttachError) -> [Action] {
    guard phase != .over, phase != .idle else { return [] }
    return fail(phase == .open ? RelayFailure.loss(of: place) : error)
  }

  /// Handles bytes that cannot be a message of a relay.
  mutating func takeFault(_ reason: String) -> [Action] {
    guard phase != .over, phase != .idle else { return [] }
    return [.abandon(kills: true)] + fail(RelayFailure.violation(reason, at: place))
  }

  /// Handles a command that does not read its input.
  mutating func takeStall() -> [Action] {
    guard phase != .over, phase != .idle else { return [] }
    return lose()
  }

  /// Ends a command that does not answer.
  ///
  /// - Parameter text: The text that the command has written instead of the preamble.
  /// - Returns: The actions that the link must carry out.
  private mutating func lose(_ text: String = "") -> [Action] {
    let loss = RelayFailure.loss(of: place)
    let error = phase == .open ? loss : RelayFailure.noAnswer(from: place, text: text)
    return [.abandon(kills: true)] + fail(error)
  }

  /// Ends all connections. The command may be started again.
  private mutating func fail(_ error: AttachError) -> [Action] {
    phase = .idle
    silence = nil
    presentTargets = []
    lastOpened = 0
    lastPingBeforeClose = nil
    lateCount = 0
    let ended = connections.keys.sorted()
    connections = [:]
    let refusals = isDecided ? [] : [Action.refuse(error)]
    isDecided = true
    return refusals + ended.map { .end(connection: $0, TransportEnd(error)) }
  }

  // MARK: The relay

  /// Handles a message of the relay.
  mutating func take(_ answer: RelayAnswer) -> [Action] {
    guard phase == .greeting || phase == .open else { return [] }
    heard = (true, heard.known || answer != .unknown)
    switch answer {
    case .unknown: return []
    case .pong(let number): return takePong(number)
    case .greeting(let targets, let versions): return greet(targets, versions)
    case .bye(let farewell):
      return [.abandon(kills: false)] + fail(RelayFailure.error(of: farewell, at: place))
    case .message(let message):
      guard phase == .open else { return early() }
      guard connections[message.connection]?.isOpen == true else {
        return takeLate(message.connection)
      }
      return [.deliver(message)]
    case .end(let connection, let refusal):
      guard phase == .open else { return early() }
      guard connections.removeValue(forKey: connection) != nil else { return takeLate(connection) }
      return [.end(connection: connection, TransportEnd(refusal))]
    }
  }

  /// Handles the answer to a ping. The relay answers pings in their order, and may skip some of them.
  private mutating func takePong(_ number: UInt64) -> [Action] {
    guard number > lastPong, number <= lastPing else {
      return takeFault("its pong \(number) answers no ping")
    }
    lastPong = number
    lateCount = 0
    if let ping = lastPingBeforeClose, number > ping { lastPingBeforeClose = nil }
    return []
  }

  /// Handles a message or the end of a connection that is not open. The relay may have sent it before it received the
  /// close of the connection. In all other cases it is a fault.
  private mutating func takeLate(_ connection: UInt32) -> [Action] {
    lateCount += 1
    let isLegal = connection <= lastOpened && lastPingBeforeClose != nil
    if isLegal, lateCount <= Self.mostLateMessages { return [] }
    return takeFault("the connection \(connection) is not open")
  }

  private mutating func early() -> [Action] {
    takeFault("the first message was not its greeting")
  }

  private mutating func greet(
    _ targets: [RelayTarget], _ versions: ProtocolVersions
  ) -> [Action] {
    guard phase == .greeting else { return takeFault("its greeting was received twice") }
    guard ProtocolVersions.current.isCompatible(with: versions) else {
      return [.abandon(kills: false)] + fail(RelayFailure.otherVersion(versions, at: place))
    }
    phase = .open
    presentTargets = targets
    var actions: [Action] = []
    if self.targets == nil {
      let numbered = zip(targets, 1...).map { RelayedTarget($0, number: $1) }
      self.targets = numbered
      if !isDecided { actions.append(.greet(numbered)) }
      isDecided = true
    }
    return connections.keys.sorted().reduce(into: actions) { $0 += open($1) }
  }

  // MARK: Silence

  /// The time of the next check; `nil` if the command does not run or was asked to end.
  var nextLook: MonitorTime? { silence?.nextLook }

  /// Records that bytes have arrived from the command. The method must be called after the messages in these bytes were
  /// handled.
  ///
  /// Bytes before the preamble do not count, because they may be text of any length. Bytes before the greeting do not
  /// count either, unless the relay awaits a process. Messages do not count if this version knows none of them, because
  /// a relay of any version answers a ping with a message that this version knows.
  mutating func hear(at now: MonitorTime) {
    defer { heard = (false, false) }
    guard !isLimited, heard.known || !heard.anything else { return }
    _ = silence?.hear(at: now)
  }

  /// Whether the present phase must end within ``startPatience``, even if bytes arrive.
  private var isLimited: Bool { phase == .starting || phase == .greeting && !awaitsProcess }

  /// Checks whether the command sends bytes.
  ///
  /// - Parameters:
  ///   - now: The present time.
  ///   - text: The text that the command has written instead of the preamble; empty if it has written none.
  /// - Returns: The actions that the link must carry out.
  mutating func look(at now: MonitorTime, text: String = "") -> [Action] {
    var actions: [Action] = []
    for action in silence?.look(at: now) ?? [] {
      switch action {
      case .ping:
        if phase != .starting { actions.append(ping(at: now)) }
      case .post(.silent(let duration)):
        if duration >= (isLimited ? Self.startPatience : Self.patience) { return lose(text) }
      case .post: break
      }
    }
    // While bytes arrive, `silence` requests no ping. A relay that sends without a pause could then receive nothing,
    // and would end.
    let isDue = phase != .starting && silence != nil && now - lastPingTime >= Self.longestPause
    return isDue ? actions + [ping(at: now)] : actions
  }

  private mutating func ping(at now: MonitorTime) -> Action {
    lastPing += 1
    lastPingTime = now
    return .send(.ping(lastPing))
  }
}
