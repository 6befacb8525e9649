// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import MonitorTransport
@testable import OperationsMonitor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests with viewers of other users. They need root, because a thread changes its user.
@Suite(.enabled(if: geteuid() == 0, "only root can be another user")) struct OtherUserTests {
  @Test("A viewer of another user is refused and logged, even if it can reach the socket")
  func isRefusedInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let runtime = try TemporaryDirectory()
      chmod(runtime.path, 0o777)
      let log = LogLines()
      let listening = Monitored<Listener?>(nil)
      // This thread changes its user and then creates the listener. The thread for connections,
      // which the listener starts, belongs to the same user.
      startThread {
        becomeUser(65_534)
        let listener = try? Listener(
          mode: .readWrite, logger: log.logger, in: MonitorPlaces(runtimePath: runtime.path))
        listening.change { $0 = listener }
      }
      listening.wait(for: "the socket") { $0 != nil }
      let path = try #require(listening.value).path
      let answers = Monitored<[UInt32: WireClient.Answer]>([:])
      func ask(as users: [UInt32]) {
        for user in users {
          startThread {
            becomeUser(user)
            let answer = WireClient(path: path)?.greet() ?? .nothing
            answers.change { $0[user] = answer }
          }
        }
        answers.wait(for: "the answers") { answers in users.allSatisfy { answers[$0] != nil } }
      }
      // The permissions of the directory do not allow other users to reach the socket.
      ask(as: [12_345])
      #expect(answers.value[12_345] == .nothing)
      // The new permissions allow other users to reach the socket. The system reports the user of
      // each connection, and the listener refuses other users except root.
      chmod(runtime.file("opq"), 0o755)
      chmod(path, 0o666)
      answers.change { $0 = [:] }
      ask(as: [12_345, 65_533, 65_534, 0])
      #expect(answers.value[12_345] == .closed)
      #expect(answers.value[65_533] == .closed)
      #expect(answers.value[65_534]?.isGreeting == true)
      #expect(answers.value[0]?.isGreeting == true)
      for user in [12_345, 65_533] {
        #expect(
          log.lines.contains {
            $0
              == "refused a viewer: its process belongs to another user pid=\(getpid()) uid=\(user)"
          })
      }
      #expect(log.lines.count == 2)
    }
  }
}

/// Changes the user of the calling thread only. The function of the C library would change the user
/// of all threads.
private func becomeUser(_ user: UInt32) {
  let call = unsafeBitCast(
    dlsym(nil, "syscall"), to: (@convention(c) (Int, Int, Int, Int) -> Int).self)
  #if arch(x86_64)
    let number = 117
  #else
    let number = 147
  #endif
  precondition(call(number, Int(user), Int(user), Int(user)) == 0)
}
