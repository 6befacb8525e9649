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

/// A command that connects a link with a relay in this process through two named pipes. Each start of the command uses
/// its own pipes.
final class StandInRelay: Sendable {
  private static let mostStarts = 4

  private let directory: TemporaryDirectory
  /// The place of the relay. Its command ends when one of the two pipes ends.
  let place: RemotePlace

  /// Creates the named pipes.
  init() throws {
    directory = try TemporaryDirectory()
    for number in 1...Self.mostStarts {
      mkfifo(directory.file("in\(number)"), 0o600)
      mkfifo(directory.file("out\(number)"), 0o600)
    }
    let path = directory.path
    place = .command(
      """
      n=1; while ! mkdir \(path)/$n 2>/dev/null; do n=$((n+1)); done; \
      cat \(path)/out$n & exec cat >\(path)/in$n; :
      """)
  }

  /// The number of times that the command was started.
  var startCount: Int {
    (1...Self.mostStarts).count { access(directory.file("\($0)"), F_OK) == 0 }
  }

  /// Waits until the command was started a number of times, and returns the relay's ends of the last pipes.
  func connect(_ number: Int) -> (input: Int32, output: Int32) {
    let input = open(directory.file("in\(number)"), O_RDONLY | O_CLOEXEC)
    return (input, open(directory.file("out\(number)"), O_WRONLY | O_CLOEXEC))
  }

  /// Runs a relay on a new thread when the command was started a number of times.
  func serve(start number: Int = 1, find: @escaping @Sendable () -> [RelayTarget]?) {
    startThread { [self] in
      let (input, output) = connect(number)
      _ = Relay(input: input, output: output, find: find).run()
    }
  }
}
