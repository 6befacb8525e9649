// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Operations whose work is written with async/await: results, dependencies, a width, errors and
// cancellation.

import Operations

/// Returns a page after 20 ms. It uses no thread while it waits.
func fetch(_ page: Int) async throws -> String {
  try await Task.sleep(for: .milliseconds(20))
  return "page \(page)"
}

struct PageIsMissing: Error {}

/// An operation whose work is an asynchronous function. It overrides only `run()`.
final class Merge: AsyncOperation<String>, @unchecked Sendable {
  private let pages: [AsyncOperation<String>]

  init(_ pages: [AsyncOperation<String>]) {
    self.pages = pages
    super.init()
    for page in pages { addDependency(page) }
  }

  override func run() async throws -> String {
    // The operations in `pages` are dependencies of this operation, so they have finished. Therefore each
    // `await` returns without suspending.
    var texts: [String] = []
    for page in pages { texts.append(try await page.value) }
    return texts.joined(separator: ", ")
  }
}

// 100 operations wait at the same time, in a queue of width 100. They do not need 100 threads.
let network = OperationQueue(name: "network", maxConcurrentOperationCount: 100)
let pages = (1...100).map { page in network.addAsyncOperation { try await fetch(page) } }

let processor = OperationQueue(name: "processor")
let merge = Merge(Array(pages.prefix(3)))
processor.addOperation(merge)
print("merged: \(try await merge.value)")

// If the work throws an error, the operation stores the error. It finishes like any other operation, and its
// dependents start.
let missing = network.addAsyncOperation { () -> String in throw PageIsMissing() }
do {
  print(try await missing.value)
} catch {
  print("error: \(error), finished: \(missing.isFinished)")
}

// An operation holds its slot until its work has ended. In a queue of width 1 the second operation waits.
let narrow = OperationQueue(name: "narrow", maxConcurrentOperationCount: 1)
let endless = narrow.addAsyncOperation { try await Task.sleep(for: .seconds(3_600)) }
let next = narrow.addAsyncOperation { "next" }
for await state in endless.states where state == .executing { break }
print("endless: \(endless.state), next: \(next.state)")

// Cancelling the operation cancels its task. The cancellation of the task ends the sleep that the task
// awaits.
endless.cancel()
print("then: \(try await next.value)")
if case .failure(let error)? = endless.result { print("endless: \(type(of: error))") }

for page in pages { _ = try? await page.value }
print("fetched: \(pages.count { $0.isFinished && !$0.isCancelled })")
