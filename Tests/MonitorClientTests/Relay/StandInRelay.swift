// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import MonitorTestSupport
import TestSupport

@testable import MonitorClient

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A command that connects a link with a relay of this process, by two named pipes.
final class StandInRelay: Sendable {
  private let directory: TemporaryDirectory
  /// The place of the relay. Its command ends when one of the two pipes ends.
  let place: RemotePlace

  private var toRelay: String { directory.file("in") }
  private var fromRelay: String { directory.file("out") }

  /// Creates the named pipes.
  init() throws {
    directory = try TemporaryDirectory()
    let (toRelay, fromRelay) = (directory.file("in"), directory.file("out"))
    mkfifo(toRelay, 0o600)
    mkfifo(fromRelay, 0o600)
    place = .command("cat \(fromRelay) & exec cat >\(toRelay); :")
  }

  /// Waits until the command runs, and returns its ends of the pipes.
  func connect() -> (input: Int32, output: Int32) {
    let input = open(toRelay, O_RDONLY | O_CLOEXEC)
    return (input, open(fromRelay, O_WRONLY | O_CLOEXEC))
  }

  /// Executes a relay on a new thread, each time the command is started, a number of times.
  func serve(times: Int, find: @escaping @Sendable () -> [RelayTarget]?) {
    startThread { [self] in
      for _ in 1...times {
        let (input, output) = connect()
        _ = Relay(input: input, output: output, find: find).run()
      }
    }
  }
}
