// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import NIOCore
import NIOHTTP1
import NIOPosix

/// A connection of the client that sends requests to the server.
struct Client {
  private typealias Channel = NIOAsyncChannel<
    HTTPClientResponsePart, HTTPClientRequestPart
  >

  /// What one connection received.
  struct Answers {
    /// The number of answers with the status 200.
    var succeeded = 0
    /// The number of other answers.
    var failed = 0

    /// Adds the answers of another connection.
    static func += (left: inout Answers, right: Answers) {
      left.succeeded += right.succeeded
      left.failed += right.failed
    }
  }

  /// Sends requests for tiles over one connection, each one after the answer to the one before.
  ///
  /// - Parameters:
  ///   - tiles: The numbers of the tiles.
  ///   - port: The port of the server.
  /// - Returns: What the connection received.
  /// - Throws: An error if the server does not accept the connection.
  static func request(_ tiles: some Sequence<Int>, port: Int) async throws -> Answers {
    let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHTTPClientHandlers()
          return try Channel(wrappingChannelSynchronously: channel)
        }
      }
    return try await channel.executeThenClose { responses, requests in
      var answers = Answers()
      var parts = responses.makeAsyncIterator()
      for tile in tiles {
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/tiles/\(tile)")
        head.headers.add(name: "host", value: "localhost")
        try await requests.write(.head(head))
        try await requests.write(.end(nil))
        while let part = try await parts.next() {
          if case .head(let response) = part {
            if response.status == .ok { answers.succeeded += 1 } else { answers.failed += 1 }
          }
          if case .end = part { break }
        }
      }
      return answers
    }
  }

  /// Opens several connections at once, and sends the same number of requests over each.
  ///
  /// - Returns: What all connections received.
  static func request(
    connections: Int, requestsEach count: Int, port: Int
  ) async throws -> Answers {
    try await withThrowingTaskGroup(of: Answers.self) { group in
      for connection in 0..<connections {
        let tiles = connection * count..<(connection + 1) * count
        group.addTask { try await request(tiles.lazy.map { $0 % 4_096 }, port: port) }
      }
      return try await group.reduce(into: Answers()) { $0 += $1 }
    }
  }
}
