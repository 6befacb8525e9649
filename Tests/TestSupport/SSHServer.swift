// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A real sshd for tests, on a port of this machine.
///
/// The script `Tests/Fixtures/ssh/server` starts it. It ends when the object is released, and when this process ends.
package final class SSHServer: Sendable {
  /// Whether ssh and sshd are installed.
  package static let isInstalled =
    access("/usr/sbin/sshd", X_OK) == 0 && access("/usr/bin/ssh", X_OK) == 0

  /// Why tests are skipped if ``isInstalled`` is `false`.
  package static let missing: Comment = "the package openssh-server is not installed"

  private let directory: TemporaryDirectory

  /// The folder with a program `ssh` that calls the real one, for which `login` is this server.
  package var programs: String { directory.file("bin") }

  /// The sockets that ssh opens for the host `configured`, if its arguments do not prevent this.
  package var configuredSockets: [String] {
    [directory.file("forwarded"), directory.file("master")]
  }

  /// An error of the script.
  package struct Failure: Error, CustomStringConvertible {
    /// The output of the script.
    package let description: String
  }

  /// Starts a server, and returns when it answers.
  ///
  /// - Parameter variables: Variables of the sessions, such as `NAME=VALUE`.
  /// - Throws: ``TemporaryDirectory/Failure`` if the directory cannot be created, or ``Failure`` if the server does not
  ///   start.
  package init(_ variables: [String]) throws {
    directory = try TemporaryDirectory()
    let words = ["start", directory.path, "\(getpid())"] + variables
    let (output, status) = FixtureScript.run("ssh/server", words, log: directory.file("start"))
    if status != 0 { throw Failure(description: output) }
  }

  deinit {
    _ = FixtureScript.run("ssh/server", ["stop", directory.path], log: directory.file("start"))
  }
}
