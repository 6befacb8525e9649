// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import Foundation
import MonitorClient
import MonitorProtocol
import MonitorTestSupport
import TestSupport
import Testing

@testable import OpqTop

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests of the users of links, with commands that are not relays.
@Suite("The users of links to other machines", .timeLimit(.minutes(5))) struct RelayLinksTests {
  /// A place where the relay never answers. The inner shell ignores the words of the relay.
  private static let place = RemotePlace.command("sh -c 'exec sleep 600' sh")

  /// Returns a gate that is open when a link has ended.
  private func end(of link: RelayLink) -> Gate {
    let gate = Gate()
    link.whenGreeted { _ in gate.open() }
    return gate
  }

  /// Waits until the event loop of all links has done what was requested before.
  private func settle() {
    let other = RelayLink(Self.place, arguments: [])
    other.invalidate()
    #expect(end(of: other).waitUntilOpen())
  }

  @Test("A link ends after its last user has released it") func users() async throws {
    try await onOwnThread {
      let links = RelayLinks()
      let link = links.open(Self.place, [])
      let ended = end(of: link)
      #expect(links.share(link))
      links.release(link)
      settle()
      #expect(!ended.isOpen)
      links.release(link)
      #expect(ended.waitUntilOpen())
      #expect(!links.share(link), "a link that has ended can be used")
      links.release(link)
      links.close()
    }
  }

  @Test("A process of this machine needs no link") func noLink() {
    let links = RelayLinks()
    #expect(links.share(nil))
    links.release(nil)
  }

  @Test("The end of the run ends all links, also those that are opened later")
  func close() async throws {
    try await onOwnThread {
      let links = RelayLinks()
      let link = links.open(Self.place, [])
      links.share(link)
      let ended = end(of: link)
      links.close()
      #expect(ended.waitUntilOpen())
      #expect(end(of: links.open(Self.place, [])).waitUntilOpen())
      #expect(!links.share(link))
    }
  }

  @Test("A search of a closed picker opens no link") func closedSearch() throws {
    let links = RelayLinks()
    let search = try #require(RemoteSearch(Self.place, links))
    #expect(throws: AttachError.self) { try search.find(isRequested: true) }
    search.begin()
    search.end()
    #expect(throws: AttachError.self) { try search.find(isRequested: true) }
    #expect(RemoteSearch(nil, links) == nil)
  }

  @Test("A failed search is repeated only if the user requests it")
  func failedSearch() async throws {
    try await onOwnThread {
      let directory = try TemporaryDirectory()
      let links = RelayLinks()
      // Each start of the command adds a line to the file.
      let place = RemotePlace.command(
        "sh -c 'echo x >>\(directory.file("starts")); exit 127' sh")
      let search = try #require(RemoteSearch(place, links))
      search.begin()
      for (isRequested, count) in [(true, 1), (false, 1), (false, 1), (true, 2)] {
        let error = #expect(throws: AttachError.self) {
          try search.find(isRequested: isRequested)
        }
        #expect(error?.kind == .nothingThere)
        #expect(startCount(directory) == count)
      }
      links.close()
    }
  }

  /// Returns a place where a relay greets and names a process that cannot be watched. Each start of its command adds its
  /// process id to the file `starts`. The command executes the shell text `check` before it greets.
  private func greetingPlace(_ directory: TemporaryDirectory, check: String = "") -> RemotePlace {
    let refusal = RelayRefusal(.denied, "process 7 belongs to another user", hasProcessEnded: false)
    let target = RelayTarget(processID: 7, path: "/7.sock", refusal: refusal)
    let greeting = RelayAnswer.greeting([target], versions: .current).encoded()
    let octal = (RelayPreamble.bytes + LocalListener.frame(greeting)).map { byte in
      "\\0" + String(byte, radix: 8)
    }
    return .command(
      """
      sh -c 'echo $$ >>\(directory.file("starts")); \(check) printf %b "$0"; exec sleep 600' \
      '\(octal.joined())'
      """)
  }

  @Test("If a link was lost, only a requested search connects again")
  func lostLink() async throws {
    try await onOwnThread {
      let directory = try TemporaryDirectory()
      let links = RelayLinks()
      let search = try #require(RemoteSearch(greetingPlace(directory), links))
      search.begin()
      #expect(try search.find(isRequested: true).count == 1)
      kill(try #require(starts(directory).first), SIGKILL)
      // The link detects the end of its command later.
      let deadline = ContinuousClock.now + .seconds(60)
      var loss: (any Error)?
      while loss == nil, ContinuousClock.now < deadline {
        do { _ = try search.find(isRequested: false) } catch { loss = error }
      }
      #expect((loss as? AttachError)?.description.contains("was lost") == true)
      #expect(throws: AttachError.self) { try search.find(isRequested: false) }
      #expect(startCount(directory) == 1)
      #expect(try search.find(isRequested: true).count == 1)
      #expect(startCount(directory) == 2)
      links.close()
    }
  }

  @Test("After a successful search, the next search does not repeat an earlier error")
  func recoveredSearch() async throws {
    try await onOwnThread {
      let directory = try TemporaryDirectory()
      let links = RelayLinks()
      // Only the first start fails.
      let check = "mkdir \(directory.file("first")) && exit 127;"
      let search = try #require(RemoteSearch(greetingPlace(directory, check: check), links))
      search.begin()
      #expect(throws: AttachError.self) { try search.find(isRequested: true) }
      for isRequested in [true, false, false] {
        #expect(try search.find(isRequested: isRequested).count == 1)
      }
      #expect(startCount(directory) == 2)
      links.close()
    }
  }

  @Test("After a failed search, the user can choose a process of the previous search")
  func choiceAfterFailure() async throws {
    try await onOwnThread {
      let directory = try TemporaryDirectory()
      let links = RelayLinks()
      // Only the first start succeeds.
      let check = "mkdir \(directory.file("first")) || exit 127;"
      let search = try #require(RemoteSearch(greetingPlace(directory, check: check), links))
      search.begin()
      let choice = try #require(try search.find(isRequested: true).first)
      for _ in 1...2 {
        #expect(throws: AttachError.self) { try search.find(isRequested: true) }
      }
      let process = try #require(search.takeProcess(choice.id))
      search.release(process)
      search.end()
      #expect(search.takeProcess(process.id) == nil)
      links.close()
    }
  }

  /// Returns the lines of the file `starts`. Each start of a command adds one.
  private func lines(_ directory: TemporaryDirectory) -> [String] {
    let text = try? String(contentsOfFile: directory.file("starts"), encoding: .utf8)
    return text?.split(separator: "\n").map { String($0) } ?? []
  }

  private func startCount(_ directory: TemporaryDirectory) -> Int { lines(directory).count }

  /// Returns the ids of the commands that were started.
  private func starts(_ directory: TemporaryDirectory) -> [Int32] {
    lines(directory).compactMap { Int32($0) }
  }
}
