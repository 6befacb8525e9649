// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import FoundationNetworking
import OperationsFoundation
import TestSupport
import Testing

@Suite("Interfaces of Foundation that require its queue")
struct FoundationClientTests {
  @Test("A notification is delivered in our queue before post returns")
  func notification() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let center = NotificationCenter()
      let log = EventLog<String>()
      let token = center.addObserver(
        forName: Notification.Name("news"), object: nil, queue: queue.foundationQueue
      ) { notification in
        let place = OperationQueue.current === queue ? "in our queue" : "elsewhere"
        log.note("\(notification.name.rawValue) \(place)")
      }
      center.post(name: Notification.Name("news"), object: nil)
      #expect(log.events == ["news in our queue"])
      center.removeObserver(token)
      center.post(name: Notification.Name("news"), object: nil)
      #expect(log.events.count == 1)
    }
  }

  @Test(
    "A notification that an operation of that queue posts is delivered once, before post returns",
    arguments: [1, 2, -1])
  func notificationFromInside(width: Int) async throws {
    try await onOwnThread {
      for _ in 0..<Effort.scaled(200) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        let center = NotificationCenter()
        let log = EventLog<String>()
        let token = center.addObserver(
          forName: Notification.Name("news"), object: nil, queue: queue.foundationQueue
        ) { _ in log.note(OperationQueue.current === queue ? "delivered" : "elsewhere") }
        queue.addOperation {
          center.post(name: Notification.Name("news"), object: nil)
          log.note("posted")
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.events == ["delivered", "posted"])
        center.removeObserver(token)
      }
    }
  }

  @Test("An observer that posts inside such a delivery is served before its post returns")
  func nestedNotification() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let center = NotificationCenter()
      let log = EventLog<String>()
      let tokens = [("outer", "inner"), ("inner", "")].map { name, next in
        center.addObserver(
          forName: Notification.Name(name), object: nil, queue: queue.foundationQueue
        ) { _ in
          if !next.isEmpty { center.post(name: Notification.Name(next), object: nil) }
          log.note(name)
        }
      }
      queue.addOperation {
        center.post(name: Notification.Name("outer"), object: nil)
        log.note("posted")
      }
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["inner", "outer", "posted"])
      for token in tokens { center.removeObserver(token) }
    }
  }

  @Test("A block that an operation adds to its own queue, and does not wait for, runs after it")
  func addedFromInside() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let log = EventLog<String>()
      queue.addOperation {
        queue.foundationQueue.addOperation { log.note("added") }
        log.note("adding")
      }
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["adding", "added"])
    }
  }

  /// A delegate that records the calls of a URL session, and whether they are made in the operation
  /// queue `queue`.
  private final class SessionDelegate: NSObject, URLSessionDataDelegate, Sendable {
    let queue: OperationQueue
    let log = EventLog<String>()

    init(queue: OperationQueue) { self.queue = queue }

    private func note(_ event: String) {
      log.note(OperationQueue.current === queue ? event : "\(event) elsewhere")
    }

    func urlSession(_: URLSession, dataTask _: URLSessionDataTask, didReceive data: Data) {
      note(String(decoding: data, as: UTF8.self))
    }

    func urlSession(_: URLSession, task _: URLSessionTask, didCompleteWithError error: (any Error)?)
    {
      note(error == nil ? "complete" : "failed")
    }
  }

  @Test("A session calls its delegate in our queue, with data and with failures")
  func session() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let delegate = SessionDelegate(queue: queue)
      let session = URLSession(
        configuration: .ephemeral, delegate: delegate, delegateQueue: queue.foundationQueue)
      #expect(session.delegateQueue === queue.foundationQueue)
      // Neither task uses the network: the first URL contains its data, and the second URL has an
      // unsupported scheme.
      for (address, expected) in [
        ("data:,hello", ["hello", "complete"]), ("opq-unknown:nothing", ["failed"]),
      ] {
        let url = URL(string: address) ?? URL(fileURLWithPath: "/")
        let before = delegate.log.events
        session.dataTask(with: url).resume()
        delegate.log.wait(forCount: before.count + expected.count)
        #expect(delegate.log.events == before + expected)
      }
      session.invalidateAndCancel()
    }
  }
}
