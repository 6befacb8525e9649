// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import MonitorClient

@Suite("Places of relays") struct RemotePlaceTests {
  @Test("ssh gets the host as one word, and each argument quoted for the shell of the host")
  func hosts() throws {
    let place = try RemotePlace.host("alice@web1")
    #expect(place.name == "alice@web1")
    #expect(
      try place.command(arguments: ["4711", "--", "/tmp/it's a;socket"])
        == [
          "ssh", "-T", "-a", "-x", "-o", "BatchMode=yes", "-o", "ControlMaster=no", "-o",
          "ClearAllForwardings=yes", "-o", "RemoteCommand=none", "-o", "PermitLocalCommand=no",
          "alice@web1", "opq-top", "relay",
          "4711", "--", #"'/tmp/it'\''s a;socket'"#,
        ])
  }

  @Test(
    "A name that ssh would not use as a host is refused",
    arguments: [
      "", "-oProxyCommand=touch /tmp/x", "-", "a b", "a\nb", "a\u{7}", " web1", ":", "fe80:", "[]",
      "[-oProxyCommand=x]",
    ])
  func refusedHosts(_ name: String) {
    #expect(throws: AttachError.self) { try RemotePlace.host(name) }
  }

  @Test(
    "Brackets around an address are removed, and other brackets are kept",
    arguments: [
      ("[::1]", "::1"), ("alice@[fe80::1]", "alice@fe80::1"), ("[2001:db8::]", "2001:db8::"),
      ("::1", "::1"), ("web[1]", "web[1]"), ("a]", "a]"),
    ])
  func brackets(_ text: String, _ name: String) throws {
    #expect(try RemotePlace.host(text).name == name)
  }

  @Test(
    "White space at the ends of a command is removed",
    arguments: ["docker exec -i web\n", " \tdocker exec -i web \r\n\n"])
  func trimmedCommands(_ text: String) throws {
    let words = try RemotePlace.command(text).command(arguments: [])
    #expect(words[2] == "docker exec -i web \"$@\"")
  }

  @Test(
    "A command after which the shell would execute the words on this machine is refused",
    arguments: ["", " \n", "a;", "a; ", "a &", "a |", "a ||", "a &&\n", "a\nb", "a #\nb"])
  func refusedCommands(_ text: String) {
    #expect(throws: AttachError.self) { try RemotePlace.command(text).command(arguments: []) }
  }

  @Test("A command gets the words of the relay as arguments without a change")
  func commands() throws {
    let place = RemotePlace.command("docker exec -i web")
    #expect(place.name == "docker exec -i web")
    #expect(
      try place.command(arguments: ["it's"])
        == [
          "/bin/sh", "-c", "docker exec -i web \"$@\"", "sh", "opq-top", "relay", "it's",
        ])
  }

  @Test("Addresses are equal if they have the same link and number, or the same path")
  func addresses() throws {
    let link = RelayLink(try .host("web1"), arguments: [])
    let other = RelayLink(try .host("web1"), arguments: [])
    #expect(ProcessAddress.relayed(link, number: 1) == .relayed(link, number: 1))
    #expect(ProcessAddress.relayed(link, number: 1) != .relayed(link, number: 2))
    #expect(ProcessAddress.relayed(link, number: 1) != .relayed(other, number: 1))
    #expect(ProcessAddress.socket("a") == .socket("a"))
    #expect(ProcessAddress.socket("a") != .socket("b"))
    #expect(ProcessAddress.socket("a") != .relayed(link, number: 1))
    #expect(ProcessAddress.relayed(link, number: 1).host == "web1")
    #expect(ProcessAddress.socket("a").host == "")
  }
}
