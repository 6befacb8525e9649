// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import FoundationNetworking
import OperationsFoundation
import TestSupport
import Testing

@Suite("What of Foundation's wants a queue of its own is given ours")
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

  @Test("One that an operation of that very queue posts is delivered after it, and hangs nobody")
  func notificationFromInside() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let center = NotificationCenter()
      let log = EventLog<String>()
      let token = center.addObserver(
        forName: Notification.Name("news"), object: nil, queue: queue.foundationQueue
      ) { _ in log.note("delivered") }
      queue.addOperation {
        center.post(name: Notification.Name("news"), object: nil)
        log.note("posted")
      }
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["posted", "delivered"])
      center.removeObserver(token)
    }
  }

  /// Notes what a session tells it, and whether it does so in `queue`.
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
      // Neither leaves the machine: the second kind of URL is not supported.
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
