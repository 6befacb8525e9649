// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import Testing

@Suite("Names that subclasses have already given away")
struct OwnNamesTests {
  @Test("A subclass may have properties of the names that the library added, or uses within")
  func propertiesOfTheSameNames() {
    let download = Download()
    #expect(download.id == "download" && download.state == 7 && download.states == ["a", "b"])
    #expect(download.lock == 1 && download.queue == "q" && download.status == 200)
    download.start()
    let operation: Operation = download
    #expect(operation.state == .finished && operation.id.rawValue > 0)
    #expect(operation.description.contains("\(operation.id)"))
  }
}

private final class Download: Operation, @unchecked Sendable {
  let id = "download"
  var state = 7
  let states = ["a", "b"]
  let lock = 1
  let queue = "q"
  let status = 200
  let identifier = 0
  let links: [String] = []
  let rare = false
  let place = "here"
}
