// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import NIOCore
import NIOPosix

/// Creates channels for the pipes of a command. The functions must be called on the event loop.
enum CommandPipe {
  /// Creates a channel that reads a file. If the system cannot create the channel, the file is closed.
  ///
  /// - Parameters:
  ///   - input: The file: a pipe.
  ///   - loop: The event loop of the channel.
  ///   - prepare: A closure that adds the handlers of the channel.
  /// - Returns: The channel.
  static func open(
    input: Int32, on loop: any EventLoop, prepare: @escaping (any Channel) throws -> Void
  ) -> EventLoopFuture<any Channel> {
    open(input, on: loop, prepare) { $0.takingOwnershipOfDescriptor(input: $1) }
  }

  /// Creates a channel that writes a file. If the system cannot create the channel, the file is closed.
  ///
  /// - Parameters:
  ///   - output: The file: a pipe.
  ///   - loop: The event loop of the channel.
  ///   - prepare: A closure that adds the handlers of the channel.
  /// - Returns: The channel.
  static func open(
    output: Int32, on loop: any EventLoop, prepare: @escaping (any Channel) throws -> Void
  ) -> EventLoopFuture<any Channel> {
    open(output, on: loop, prepare) { $0.takingOwnershipOfDescriptor(output: $1) }
  }

  private static func open(
    _ file: Int32, on loop: any EventLoop, _ prepare: @escaping (any Channel) throws -> Void,
    _ take: (NIOPipeBootstrap, Int32) -> EventLoopFuture<any Channel>
  ) -> EventLoopFuture<any Channel> {
    let isTaken = NIOLoopBoundBox(false, eventLoop: loop)
    let prepare = NIOLoopBound(prepare, eventLoop: loop)
    let bootstrap = NIOPipeBootstrap(group: loop).channelInitializer { channel in
      isTaken.value = true
      return channel.eventLoop.makeCompletedFuture { try prepare.value(channel) }
    }
    let channel = take(bootstrap, file)
    // A channel that exists closes its file itself.
    channel.whenFailure { _ in if !isTaken.value { _ = cmonitor_close(file) } }
    return channel
  }
}
