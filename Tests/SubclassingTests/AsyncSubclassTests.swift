// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import Testing

/// Tests that asynchronous subclasses compile and work in a package with default compiler settings,
/// as a new package has.
@Suite("H-8: asynchronous subclasses as libraries write them")
struct AsyncSubclassTests {
  final class Download: AsyncOperation<String>, @unchecked Sendable {
    private let address: String
    var attempts = 0

    init(address: String) {
      self.address = address
      super.init()
    }

    override func run() async throws -> String {
      attempts += 1
      await Task.yield()
      return "page of \(address)"
    }

    override func willFinish(_ result: Result<String, Error>) async {
      attempts += 1
    }
  }

  @Test("H-8, D-23: run and willFinish are overridden without further code")
  func overriding() async throws {
    let queue = OperationQueue()
    let download = Download(address: "here")
    queue.addOperation(download)
    let text = try await download.value
    #expect(text == "page of here" && download.attempts == 2)
  }

  @Test("H-8: closures and combinations compile without annotations")
  func closures() async throws {
    let queue = OperationQueue()
    let count = queue.addAsyncOperation { try await Task { 1 }.value }
    let next = count.then { $0 + 1 }
    let retry = RetryOperation(maximumAttempts: 2) { _ in Download(address: "there") }
    let group = GroupOperation([retry])
    queue.addOperation(next)
    queue.addOperation(group)
    await queue.waitUntilAllOperationsAreFinished()
    #expect(try await next.value == 2)
    #expect(try await retry.value == "page of there")
  }
}
