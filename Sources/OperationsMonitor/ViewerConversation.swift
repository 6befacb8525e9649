// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The protocol state of a connection to a viewer, without a socket and without a clock.
struct ViewerConversation {
  /// An action that the connection must carry out.
  enum Action: Equatable {
    /// Send this message to the viewer.
    case send(ProcessMessage)
    /// Send the greeting of the process to the viewer.
    case greet
    /// Send updates for this interest from now on.
    case watch(Interest, interval: Duration)
    /// Carry out this command, and send its result with this token.
    case perform(MonitorCommand, token: UInt32)
    /// Send at most this number of further parts of updates.
    case credit(Int)
    /// Log this reason why the viewer is refused.
    case note(String)
    /// Close the connection after all messages are sent.
    case close
    /// Send no further messages, and close the connection when the viewer has read all messages.
    case finish
  }

  private enum Phase {
    case awaitingHello
    case open
    case closed
  }

  private var phase = Phase.awaitingHello
  /// Whether the conversation has ended.
  var isOver: Bool { phase == .closed }
  /// Whether the viewer's greeting says that it sends no commands.
  private(set) var isViewerReadOnly = false

  /// Handles a message of the viewer.
  mutating func take(_ message: ViewerMessage) -> [Action] {
    switch (phase, message) {
    case (.closed, _), (_, .unknown): return []
    case (.awaitingHello, .hello(let hello)): return take(hello)
    case (.awaitingHello, _): return refuse("the first message was not the protocol's greeting")
    case (.open, .hello): return refuse("the protocol's greeting was received twice")
    case (.open, .watch(let interest, let interval)): return [.watch(interest, interval: interval)]
    case (.open, .command(let command, let token)): return [.perform(command, token: token)]
    case (.open, .credit(let count)): return [.credit(count)]
    case (.open, .ping(let number)): return [.send(.pong(number))]
    case (.open, .bye): return close()
    }
  }

  /// Handles invalid input from the viewer: refuses the viewer for this reason.
  mutating func takeFault(_ reason: String) -> [Action] {
    phase == .closed ? [] : refuse(reason)
  }

  /// Refuses the viewer if it has not sent a greeting in time.
  mutating func expire() -> [Action] {
    phase == .awaitingHello ? refuse("the protocol's greeting was not received in time") : []
  }

  /// Refuses the viewer because the maximum number of viewers is connected.
  mutating func turnAway() -> [Action] {
    close(
      Farewell(
        cause: .tooManyViewers,
        reason: "the maximum number of viewers (\(GuestList.limit)) is already connected"))
  }

  /// Ends the conversation because the process ends or no longer listens.
  ///
  /// - Parameter reason: The reason as one sentence.
  /// - Returns: The actions that end the connection.
  mutating func end(_ reason: String) -> [Action] {
    if phase == .closed { return [] }
    phase = .closed
    return [.send(.bye(Farewell(cause: .processEnds, reason: reason))), .finish]
  }

  private mutating func take(_ hello: ViewerHello) -> [Action] {
    let versions = ProtocolVersions.current
    guard versions.isCompatible(with: hello.versions) else {
      return close(
        Farewell(
          cause: .versionMismatch,
          reason: "the process uses version \(versions) of the protocol, "
            + "and the viewer uses \(hello.versions)"))
    }
    phase = .open
    isViewerReadOnly = hello.isReadOnly
    return [.greet]
  }

  private mutating func refuse(_ reason: String) -> [Action] {
    [.note(reason)] + close(Farewell(cause: .malformedMessage, reason: reason))
  }

  private mutating func close(_ farewell: Farewell? = nil) -> [Action] {
    phase = .closed
    return (farewell.map { [.send(.bye($0))] } ?? []) + [.close]
  }
}
