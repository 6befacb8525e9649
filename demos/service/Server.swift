// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import NIOCore
import NIOHTTP1
import NIOPosix
import Operations
import ServiceLifecycle
import Synchronization
import Tracing

/// An HTTP server whose requests are operations of a queue.
///
/// The server answers one request of a connection at a time. If the queue has ``limit`` unfinished operations,
/// the server waits before it adds another one. Meanwhile it reads no further request of that connection, so
/// the client waits too.
struct Server: Service {
  private typealias Connection = NIOAsyncChannel<
    HTTPServerRequestPart, HTTPServerResponsePart
  >

  /// The largest number of unfinished operations.
  static let limit = 64

  private let listener: any Channel
  /// The connections that the server has accepted.
  private let connections: AsyncStream<Connection>
  private let accept: AsyncStream<Connection>.Continuation
  private let queue: OperationQueue
  private let counts: ServerCounts

  /// The port at which the server accepts connections.
  var port: Int { listener.localAddress?.port ?? 0 }

  /// Creates a server that accepts connections on a port of the loopback interface. If the port is 0, the
  /// system chooses an unused one.
  init(port: Int, queue: OperationQueue, counts: ServerCounts) async throws {
    self.queue = queue
    self.counts = counts
    let (connections, accept) = AsyncStream.makeStream(of: Connection.self)
    (self.connections, self.accept) = (connections, accept)
    listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .serverChannelOption(.backlog, value: 256)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          let connection = try Connection(wrappingChannelSynchronously: channel)
          guard case .terminated = accept.yield(connection) else { return }
          // The graceful shutdown has begun. NIO requires that each connection is closed by this method.
          Task { try? await connection.executeThenClose { _, _ in } }
        }
      }
      .bind(host: "127.0.0.1", port: port).get()
  }

  /// Answers requests until the graceful shutdown begins and all accepted requests are answered.
  func run() async throws {
    await withGracefulShutdownHandler {
      await withDiscardingTaskGroup { group in
        for await connection in connections {
          group.addTask { await serve(connection) }
        }
      }
    } onGracefulShutdown: {
      stopAccepting()
    }
    // The loop also ends if the task of the service is cancelled.
    stopAccepting()
  }

  /// Closes the port. The loop of ``run()`` ends after the connections that were accepted before.
  private func stopAccepting() {
    listener.close(promise: nil)
    accept.finish()
  }

  private func serve(_ connection: Connection) async {
    let activity = ConnectionActivity()
    // A connection that breaks ends with an error. The server and the other connections continue.
    try? await withGracefulShutdownHandler {
      try await connection.executeThenClose { requests, responses in
        for try await part in requests {
          guard case .head(let head) = part else { continue }
          activity.begin()
          let (status, text) = await answer(head.uri)
          let isLast = activity.isEnding
          var response = HTTPResponseHead(version: .http1_1, status: status)
          response.headers.add(name: "content-length", value: "\(text.utf8.count)")
          if isLast { response.headers.add(name: "connection", value: "close") }
          try await responses.write(.head(response))
          try await responses.write(.body(.byteBuffer(ByteBuffer(string: text))))
          try await responses.write(.end(nil))
          if activity.end() { break }
        }
      }
    } onGracefulShutdown: {
      // A connection without a request is closed. Otherwise the request is answered first.
      if activity.shutDown() { connection.channel.close(promise: nil) }
    }
  }

  /// Returns the answer to a request, within a span of the request.
  private func answer(_ path: String) async -> (HTTPResponseStatus, String) {
    await withSpan("GET /tiles", ofKind: .server) { span in
      guard path.hasPrefix("/tiles/"), let number = Int(path.dropFirst("/tiles/".count)),
        (0..<4_096).contains(number)
      else { return (.notFound, "no such tile\n") }
      span.attributes["tile"] = number
      do {
        try await queue.waitUntilOperationCount(isBelow: Self.limit)
        // The span of the operation is a child of the span of the request.
        let render = queue.addOperation(name: "render tile \(number)") {
          Tile.pointsInSet(of: number)
        }
        counts.didAdd(unfinished: queue.operationCount)
        return (.ok, "\(try await render.value)\n")
      } catch {
        // The queue is closed, or the task is cancelled.
        return (.serviceUnavailable, "the service is ending\n")
      }
    }
  }
}

/// Whether a connection has a request that is not answered.
private final class ConnectionActivity: Sendable {
  private let state = Mutex((hasRequest: false, isEnding: false))

  /// Records that a request has arrived.
  func begin() { state.withLock { $0.hasRequest = true } }

  /// Records that a request was answered. Returns whether the service ends.
  func end() -> Bool {
    state.withLock { state in
      state.hasRequest = false
      return state.isEnding
    }
  }

  /// Whether the service ends.
  var isEnding: Bool { state.withLock { $0.isEnding } }

  /// Records that the service ends. Returns whether the connection has no request.
  func shutDown() -> Bool {
    state.withLock { state in
      state.isEnding = true
      return !state.hasRequest
    }
  }
}

/// The numbers that the demo prints at its end.
final class ServerCounts: Sendable {
  private let largest = Mutex(0)

  /// The largest number of unfinished operations so far.
  var largestUnfinished: Int { largest.withLock { $0 } }

  /// Records the number of unfinished operations.
  func didAdd(unfinished: Int) { largest.withLock { $0 = max($0, unfinished) } }
}
