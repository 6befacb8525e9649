// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if CORPUS_FOUNDATION
  import Foundation
#else
  import Operations
#endif

/// An operation that declares members with names that a library could also choose, such as `id` and
/// `kind`.
final class OwnNamesOperation: Operation, @unchecked Sendable {
  enum State { case waiting, done }

  enum Kind { case read, write }

  struct Failure: Error {}

  let id: String
  var kind = Kind.read
  var attempts = 0

  private let job: Job
  private let lock = ShapeLock()
  private var current = State.waiting
  private var messages: [String] = []
  private var failure: Failure?
  private var fraction = 0.0

  init(_ job: Job) {
    self.job = job
    id = "operation-\(job.index)"
    super.init()
  }

  var state: State { lock.withLock { current } }
  var progress: Double { lock.withLock { fraction } }
  var error: Failure? { lock.withLock { failure } }
  var result: Result<Int, Failure> { error.map { .failure($0) } ?? .success(job.index) }

  func log(_ message: String) { lock.withLock { messages.append(message) } }

  func report() -> String { lock.withLock { "\(id): \(messages.joined(separator: ", "))" } }

  func fail() {
    lock.withLock { failure = Failure() }
    log("failed")
  }

  override func main() {
    attempts += 1
    kind = .write
    job.work(of: self)
    log("worked")
    if job.index.isMultiple(of: 2) { fail() }
    lock.withLock {
      current = .done
      fraction = 1
    }
    check()
  }

  private func check() {
    let isFailed = if case .failure = result { true } else { false }
    let ends = job.index.isMultiple(of: 2) ? "worked, failed" : "worked"
    if isFailed != job.index.isMultiple(of: 2) || state != .done || progress != 1
      || kind != .write
      || report() != "operation-\(job.index): \(ends)"
    {
      job.report("has the wrong members: \(report())")
    }
  }
}

/// A queue that declares members with names that a library could also choose.
final class OwnNamesQueue: OperationQueue, @unchecked Sendable {
  enum Kind { case background }

  let id = "queue"
  let kind = Kind.background

  private let lock = ShapeLock()
  private var isShut = false

  override func addOperation(_ operation: Operation) {
    if !lock.withLock({ isShut }) { super.addOperation(operation) }
  }

  func invalidate() { lock.withLock { isShut = true } }

  func shutdown() {
    invalidate()
    cancelAllOperations()
  }
}

extension Shape {
  static let ownNames = Shape(
    name: "ownNames",
    summary: "members of its own: `id`, `kind`, `state`, `error`, `result`, `log` …",
    makeQueue: { OwnNamesQueue() }
  ) { OwnNamesOperation($0) }
}
