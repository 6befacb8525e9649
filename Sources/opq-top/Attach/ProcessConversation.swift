// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// What the messages of a monitored process mean for its viewer, without a socket.
struct ProcessConversation {
  /// What the connection has to do.
  enum Action: Equatable {
    /// The process has greeted: it can be watched from now on.
    case greeted(Hello, versions: ProtocolVersions)
    /// Tell the viewer this.
    case deliver(MonitorMessage)
    /// Give back so much credit: these parts are taken in.
    case credit(Int)
    /// It is over, for this reason.
    case fail(AttachError)
  }

  private var isGreeted = false
  private var assembler = UpdateAssembler()
  private var commands: [UInt32: MonitorCommand] = [:]
  private var lastToken: UInt32 = 0

  /// Notes a command that is sent, and names it.
  mutating func token(for command: MonitorCommand) -> UInt32 {
    lastToken &+= 1
    commands[lastToken] = command
    return lastToken
  }

  /// Takes in a message.
  mutating func take(_ message: ProcessMessage) -> [Action] {
    switch message {
    case .unknown: return []
    case .hello(let hello, let versions):
      guard !isGreeted else { return [fault("there was a second hello")] }
      guard ProtocolVersions.current.isCompatible(with: versions) else {
        return [.fail(AttachError(otherVersion: versions))]
      }
      isGreeted = true
      return [.greeted(hello, versions: versions)]
    case .bye(let farewell):
      return [
        isGreeted && farewell.cause == .processEnds
          ? .deliver(.ended(reason: farewell.reason)) : .fail(AttachError(farewell))
      ]
    case _ where !isGreeted: return [fault("the first message was no hello")]
    case .updatePart(let part): return take(part)
    case .commandResult(let token, let outcomes, let dependents):
      guard let command = commands.removeValue(forKey: token) else { return [] }
      return [
        .deliver(
          .commandResult(
            CommandResult(command: command, outcomes: outcomes, dependents: dependents)))
      ]
    case .pong: return []
    }
  }

  private mutating func take(_ part: UpdatePart) -> [Action] {
    do throws(WireError) {
      // The credit of the last part comes back when the viewer has taken the update.
      return try assembler.take(part).map { [.deliver(.update($0))] } ?? [.credit(1)]
    } catch {
      return [fault("\(error)")]
    }
  }

  private func fault(_ reason: String) -> Action {
    .fail(AttachError(.lost, "the process does not keep to the protocol: \(reason)"))
  }
}
