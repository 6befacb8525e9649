// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import MonitorProtocol
import MonitorTransport
import NIOCore
import NIOPosix

/// A relay, which forwards messages between a viewer and the processes of this machine. It connects only to the sockets
/// of its targets. Each process decides itself what the viewer may do.
package struct Relay: Sendable {
  /// The way in which a relay has ended.
  package enum Ending: Sendable, Equatable {
    /// The input has ended.
    case inputEnded
    /// The relay has refused the viewer, has received nothing for too long, or cannot use its files, for this reason.
    case failed(String)
  }

  /// The time without input after which a relay ends by default. A viewer sends a message at least every
  /// ``LinkConversation/longestPause``.
  package static let patience = Duration.seconds(60)

  private let input: Int32
  private let output: Int32
  private let patience: Duration
  private let find: @Sendable () -> [RelayTarget]?

  /// Creates a relay that has not begun.
  ///
  /// - Parameters:
  ///   - input: The file from which the viewer's messages are read: a pipe or a socket.
  ///   - output: The file to which messages for the viewer are written: a pipe or a socket. It must not be the same
  ///     descriptor as the input.
  ///   - patience: The time without input after which the relay ends. If a network fails, the input does not end.
  ///     Without this limit, the relay would keep its connections to the processes.
  ///   - find: A function that returns the targets of the relay. It is called after the greeting of the viewer, on
  ///     another thread, which it may block for a short time. If it returns `nil`, it is called again 100 ms later.
  package init(
    input: Int32, output: Int32, patience: Duration = Relay.patience,
    find: @escaping @Sendable () -> [RelayTarget]?
  ) {
    self.input = input
    self.output = output
    self.patience = patience
    self.find = find
  }

  /// Runs the relay, and returns when it has ended. At its end, the relay closes both files, unless it could not use
  /// them. The method must not be called twice.
  package func run() -> Ending {
    let loop = ConnectionLoop.shared
    let ending = loop.makePromise(of: Ending.self)
    let (find, patience) = (find, patience)
    NIOPipeBootstrap(group: loop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let idleness = IdleStateHandler(readTimeout: TimeAmount(patience))
          try channel.pipeline.syncOperations.addHandler(idleness)
          try MessageFraming.add(
            limit: WireLimits.maximumEnvelopeSize,
            before: RelayServer(find: find, patience: patience) { ending.succeed($0) }, in: channel)
        }
      }
      .takingOwnershipOfDescriptors(input: input, output: output)
      .whenFailure { ending.succeed(.failed("cannot use the standard streams: \($0)")) }
    do {
      return try ending.futureResult.wait()
    } catch {
      return .failed("\(error)")
    }
  }
}
