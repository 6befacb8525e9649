// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing
import Workloads

@Suite struct LinksTests {
  @Test func aChainLinksEachNodeToThePreviousNode() {
    let links = Links.chain(4)
    #expect(links.edges.map(\.before) == [0, 1, 2])
    #expect(links.edges.map(\.after) == [1, 2, 3])
    #expect(links.roots == [0])
  }

  @Test func aTreeLinksEachNodeToItsParent() {
    let links = Links.tree(6)
    #expect(links.edges.map(\.before) == [0, 0, 1, 1, 2])
    #expect(links.edges.map(\.after) == [1, 2, 3, 4, 5])
    #expect(links.roots == [0])
  }

  @Test(arguments: [(1_000, 100), (20_000, 1_000)])
  func layersLinkEachNodeToFourNodesOfThePreviousLayer(size: Int, width: Int) {
    let links = Links.layers(size)
    #expect(links.roots == Array(0..<width))
    #expect(links.edges.allSatisfy { $0.before / width + 1 == $0.after / width })
    #expect(Set(links.edges).count == 4 * (size - width))
  }

  @Test func layersAreTheSameEachTime() {
    #expect(Links.layers(1_000) == Links.layers(1_000))
  }

  @Test func aFanHasOneNodeLinkedToAllOthers() {
    #expect(Links.fanIn(3).edges.map(\.after) == [3, 3, 3])
    #expect(Links.fanIn(3).roots == [0, 1, 2])
    #expect(Links.fanOut(3).edges.map(\.before) == [0, 0, 0])
    #expect(Links.fanOut(3).roots == [0])
    #expect(Links.fanOut(3).count == 4)
  }
}
