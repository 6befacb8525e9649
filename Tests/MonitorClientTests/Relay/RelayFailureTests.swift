// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import MonitorClient

@Suite("The sentences about a relay that cannot be reached") struct RelayFailureTests {
  private let via = RemotePlace.command("docker exec -i web")

  private func error(
    _ status: Int32?, _ errors: String = "", text: String = "", at place: RemotePlace? = nil
  ) throws -> AttachError {
    let end = RelayEnd(status: status, errors: Array(errors.utf8), text: text)
    return RelayFailure.error(of: end, at: try place ?? .host("web1"))
  }

  @Test("A failed login has the last line of ssh, and exit status 5 only if access is denied")
  func login() throws {
    let denied = try error(255, "banner\r\nalice@web1: Permission denied (publickey).\r\n")
    #expect(denied.status == 5)
    #expect(
      "\(denied)" == "cannot log in to web1: alice@web1: Permission denied (publickey)")
    #expect(try error(255, "a\nHost key verification failed.\n").status == 5)
    let unknown = try error(255, "ssh: Could not resolve hostname web1: Name not known\n")
    #expect(unknown.status == 1)
    #expect(
      "\(unknown)"
        == "cannot log in to web1: ssh: Could not resolve hostname web1: Name not known")
    #expect("\(try error(255))" == "cannot log in to web1")
    let other = try error(255, "Permission denied\n", at: via)
    #expect(other.status == 1)
    #expect(
      "\(other)" == "the connection to \"docker exec -i web\" ended: Permission denied")
  }

  @Test("A missing opq-top has exit status 3, and an older one exit status 4")
  func program() throws {
    let missing = try error(127, "sh: 1: opq-top: not found\n")
    #expect(missing.status == 3)
    #expect("\(missing)" == "opq-top was not found on web1")
    #expect(
      "\(try error(127, "sh: 1: docker: not found\n", at: via))"
        == "opq-top was not found on \"docker exec -i web\": sh: 1: docker: not found")
    #expect("\(try error(126, "no"))" == "opq-top cannot be executed on web1")
    let old = "opq-top on web1 is too old: it has no command \"relay\""
    let end = try error(2, "opq-top: unknown command \"relay\"; did you mean \"replay\"?\n")
    #expect(end.status == 4)
    #expect("\(end)" == old)
    #expect("\(try error(64))" == "the connection to web1 ended: exit status 64")
    #expect(
      "\(try error(2, "opq-top: use only one\n"))"
        == "the connection to web1 ended: opq-top: use only one")
  }

  @Test("Text of a login shell is quoted, unless the exit status says more")
  func text() throws {
    let shell = try error(0, text: "Welcome to web1")
    #expect(shell.status == 1)
    #expect(
      "\(shell)"
        == """
        web1 sent text before opq-top's first message: "Welcome to web1"; its login shell must print nothing
        """)
    #expect("\(try error(127, text: "Welcome"))" == "opq-top was not found on web1")
    #expect(
      "\(try error(0, text: "\n \n"))"
        == """
        web1 sent text before opq-top's first message: only empty lines; its login shell must print nothing
        """)
  }

  @Test("The error of any other end has the last line or the exit status")
  func otherEnds() throws {
    #expect("\(try error(3, "one\ntwo\n\n"))" == "the connection to web1 ended: two")
    #expect("\(try error(3))" == "the connection to web1 ended: exit status 3")
    #expect("\(try error(nil))" == "the connection to web1 ended: the command was killed")
    #expect("\(RelayFailure.loss(of: via))" == "the connection to \"docker exec -i web\" was lost")
    #expect(
      "\(RelayFailure.cannotStart("ssh", "no such file"))" == "cannot run \"ssh\": no such file")
  }

  @Test("Texts of a command are one line of limited length without terminal controls")
  func hostileTexts() throws {
    let text = "\u{1B}[2J\u{9B}1m\u{202E}" + String(repeating: "long ", count: 100_000)
    for status in [0, 2, 64, 126, 127, 255] as [Int32?] {
      for place in [try RemotePlace.host("web1"), via] {
        for error in [
          try error(status, text, at: place), try error(status, text: text, at: place),
        ] {
          #expect(error.description.unicodeScalars.allSatisfy { !$0.isObeyed })
          #expect(error.description.count < 300)
        }
      }
    }
  }
}
