// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import MonitorProtocol

/// The protocol state of a connection to a monitored process, without a socket.
struct ProcessConversation {
  /// An action that the connection must carry out.
  enum Action: Equatable {
    /// The process has sent its greeting and can be watched.
    case greeted(Hello, versions: ProtocolVersions)
    /// The connection must deliver this message to the viewer.
    case deliver(MonitorMessage)
    /// The connection must send this message to the process.
    case send(ViewerMessage)
    /// The connection must end for this reason.
    case fail(AttachError)
  }

  private var isGreeted = false
  /// The version of the protocol that the process uses.
  private var versions = ProtocolVersions.current
  private var assembler = UpdateAssembler()
  private var ledger: OperationLedger
  /// The number of further parts of updates that the process may send.
  private var credit = 0
  /// The commands that have no result yet, the oldest first.
  private var commands: [(token: UInt32, command: MonitorCommand)] = []
  private var lastToken: UInt32 = 0

  /// Creates the state of a connection without messages.
  ///
  /// - Parameter ledger: Counts the memory for the process's operations.
  init(ledger: OperationLedger = OperationLedger()) { self.ledger = ledger }

  // MARK: The viewer

  /// Returns the actions that send the viewer's interest, in words that the process understands.
  func watch(_ interest: Interest, interval: Duration) -> [Action] {
    var interest = interest
    interest.filter = interest.filter?.understood(by: versions)
    interest.order = interest.order.understood(by: versions)
    return [.send(.watch(interest, interval: interval))]
  }

  /// Returns the actions that send a command of the viewer. If the version of the process does not
  /// know the command, the process would not answer. The result is then delivered at once.
  mutating func give(_ command: MonitorCommand) -> [Action] {
    if case .retry(let ids, let names) = command, !versions.knowsRetry {
      let result = CommandResult(cannotRetry: command, count: ids.count + names.count)
      return [.deliver(.commandResult(result))]
    }
    if case .setStartLimit = command, !versions.knowsQueueDetails {
      let result = CommandResult(refused: command, CommandResult.cannotSetStartLimit)
      return [.deliver(.commandResult(result))]
    }
    if case .setHeld = command {
      let result = CommandResult(refused: command, CommandResult.cannotHold)
      return [.deliver(.commandResult(result))]
    }
    lastToken &+= 1
    commands.append((lastToken, command))
    return [.send(.command(command, token: lastToken))]
  }

  /// Returns the actions that allow the process to send a number of further parts of updates.
  mutating func grant(_ count: Int) -> [Action] {
    credit += count
    return [.send(.credit(count))]
  }

  /// Ends the conversation. Each command without a result receives the outcome
  /// ``CommandResult/Outcome/lost``.
  mutating func end() -> [Action] {
    defer { commands = [] }
    return commands.map { .deliver(.commandResult(CommandResult(lost: $0.command))) }
  }

  // MARK: The process

  /// Handles a message of the process.
  mutating func take(_ message: ProcessMessage) -> [Action] {
    switch message {
    case .unknown: return []
    case .hello(var hello, let versions):
      guard !isGreeted else { return [fault("the protocol's greeting was received twice")] }
      guard ProtocolVersions.current.isCompatible(with: versions) else {
        return [.fail(AttachError(otherVersion: versions))]
      }
      isGreeted = true
      self.versions = versions
      hello.sendsQueueDetails = versions.knowsQueueDetails
      return [.greeted(hello, versions: versions)]
    case .bye(let farewell):
      guard isGreeted, farewell.cause == .processEnds else { return [.fail(AttachError(farewell))] }
      return end() + [.deliver(.ended(reason: farewell.sentence))]
    case _ where !isGreeted: return [fault("the first message was not the protocol's greeting")]
    case .updatePart(let part): return take(part)
    case .commandResult(let token, let outcomes, let dependents, let refusals):
      guard let index = commands.firstIndex(where: { $0.token == token }) else { return [] }
      let command = commands.remove(at: index).command
      var result = CommandResult(command: command, outcomes: outcomes, dependents: dependents)
      result.refusals = refusals
      return [.deliver(.commandResult(result))]
    case .pong: return []
    }
  }

  private mutating func take(_ part: UpdatePart) -> [Action] {
    guard credit > 0 else { return [fault("the process sent more updates than opq-top requested")] }
    credit -= 1
    do throws(WireError) {
      guard let update = try assembler.take(part) else { return grant(1) }
      guard ledger.enter(update) else {
        return [
          .fail(AttachError(.lost, "the process reports more operations than opq-top can store"))
        ]
      }
      // Each part that this viewer has processed permits the process to send one more part. The last
      // part of an update gives this permission only after the whole update was delivered.
      return [.deliver(.update(update))]
    } catch {
      return [fault("\(error)")]
    }
  }

  private func fault(_ reason: String) -> Action {
    .fail(AttachError(.lost, "the process violates the protocol: \(reason)"))
  }
}

extension CommandResult {
  /// Creates the result of a command whose outcome is unknown.
  init(lost command: MonitorCommand) { self.init(command, .lost) }

  /// Creates a result with the same outcome for all operations.
  package init(_ command: MonitorCommand, _ outcome: Outcome) {
    self.init(
      command: command, outcomes: Array(repeating: outcome, count: command.outcomeCount))
  }
}
