// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Whether tests can start programs as other users.
enum OtherUsers {
  /// Whether this user may start programs as other users, and other users can access the folder
  /// with the built programs.
  static let canStart: Bool = {
    guard geteuid() == 0, access(MonitoredProcess.starter, X_OK) == 0 else { return false }
    var path = BuiltProgram.path[...]
    while let end = path.lastIndex(of: "/") {
      var facts = stat()
      guard stat(String(path), &facts) == 0, facts.st_mode & 0o001 != 0 else { return false }
      path = path[..<end]
    }
    return true
  }()
}

/// Tests with processes and viewers of different users. Only root can start these.
@Suite(
  .timeLimit(.minutes(10)),
  .enabled(if: OtherUsers.canStart, "only root can start programs of other users"))
struct OtherUserTests {
  @Test(
    "A socket of another user's process is refused, except for root"
  )
  func othersSocket() throws {
    let runtime = try TemporaryDirectory()
    chmod(runtime.path, 0o777)
    let process = try MonitoredProcess(
      BuiltFolder.path(of: "demo-monitored-process"), in: runtime, user: 65_534,
      until: "opq-top attach")
    let arguments = ["--socket", process.socket, "--batch", "-n", "1"]
    // The permissions of the directory do not allow other users to reach the socket.
    let kept = try process.run(arguments, user: 12_345)
    #expect(kept.ending == .status(5), "\(kept.errors)")
    #expect(kept.output == "")
    // If the permissions allow other users to reach the socket, the viewer refuses a process of
    // another user.
    chmod(runtime.file("opq"), 0o755)
    chmod(process.socket, 0o666)
    let refused = try process.run(arguments, user: 12_345)
    #expect(refused.ending == .status(5), "\(refused.errors)")
    #expect(refused.output == "")
    #expect(refused.errors.contains("another user"))
    #expect(refused.errors.contains("65534"))
    for user: UInt32? in [65_534, nil] {
      let allowed = try process.run(arguments, user: user)
      #expect(allowed.ending == .status(0), "\(allowed.errors)")
      #expect(allowed.output.contains("demo-monitored-process"))
    }
  }
}
