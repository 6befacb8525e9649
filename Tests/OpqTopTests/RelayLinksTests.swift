// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import MonitorClient
import TestSupport
import Testing

@testable import OpqTop

/// Tests of the users of links. The commands of the links never answer.
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

  private func startCount(_ directory: TemporaryDirectory) -> Int {
    let text = try? String(contentsOfFile: directory.file("starts"), encoding: .utf8)
    return text?.split(separator: "\n").count ?? 0
  }
}
