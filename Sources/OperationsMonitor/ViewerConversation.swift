// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The answers to a viewer: the order of the messages, without a socket and without a clock.
struct ViewerConversation {
  /// An action of the connection.
  enum Action: Equatable {
    /// Send this.
    case send(ProcessMessage)
    /// Send the greeting.
    case greet
    /// Send the viewer updates about this interest from now on.
    case watch(Interest, interval: Duration)
    /// Carry this out, and answer with the token.
    case perform(MonitorCommand, token: UInt32)
    /// Send up to this many more parts of updates.
    case credit(Int)
    /// Log why the viewer is refused.
    case note(String)
    /// Close the connection after all output is sent.
    case close
  }

  private enum Phase {
    case awaitingHello
    case open
    case closed
  }

  private var phase = Phase.awaitingHello
  /// Whether the viewer has said that it gives no commands.
  private(set) var isViewerReadOnly = false

  /// Processes a message.
  mutating func take(_ message: ViewerMessage) -> [Action] {
    switch (phase, message) {
    case (.closed, _), (_, .unknown): return []
    case (.awaitingHello, .hello(let hello)): return take(hello)
    case (.awaitingHello, _): return refuse("the first message was not a greeting")
    case (.open, .hello): return refuse("a second greeting was received")
    case (.open, .watch(let interest, let interval)): return [.watch(interest, interval: interval)]
    case (.open, .command(let command, let token)): return [.perform(command, token: token)]
    case (.open, .credit(let count)): return [.credit(count)]
    case (.open, .ping(let number)): return [.send(.pong(number))]
    case (.open, .bye): return close()
    }
  }

  /// Processes invalid input, for this reason.
  mutating func takeFault(_ reason: String) -> [Action] {
    phase == .closed ? [] : refuse(reason)
  }

  /// Refuses a viewer that sent no hello in time.
  mutating func expire() -> [Action] {
    phase == .awaitingHello ? refuse("no greeting was received in time") : []
  }

  /// Refuses a viewer because the limit is reached.
  mutating func turnAway() -> [Action] {
    close(
      Farewell(
        cause: .tooManyViewers,
        reason: "the maximum number of viewers (\(GuestList.limit)) is already connected"))
  }

  /// Ends the conversation because the process no longer listens.
  mutating func end() -> [Action] {
    phase == .closed
      ? [] : close(Farewell(cause: .processEnds, reason: "the process has stopped listening"))
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
