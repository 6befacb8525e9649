// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// A web service whose requests are operations. It renders tiles under load, with a limit for the work that
// waits, with traces, and with an end that loses no request.
//
// Without an argument, the program sends 4,000 requests to its own service, ends the service with SIGTERM while
// requests are unfinished, and prints what happened. With a port as its argument, it only serves:
//
//   .build/debug/demo-service 8080 & curl http://127.0.0.1:8080/tiles/1234

import InMemoryTracing
import Logging
import Operations
import OperationsLifecycle
import OperationsTelemetry
import ServiceLifecycle
import Tracing
import UnixSignals

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

let tracer = InMemoryTracer()
InstrumentationSystem.bootstrap(tracer)
let telemetry = OperationTelemetry.start(metrics: nil, interval: .milliseconds(10))

let queue = OperationQueue(name: "tiles")
let counts = ServerCounts()
let givenPort = CommandLine.arguments.dropFirst().first.flatMap { Int($0) }
let server = try await Server(port: givenPort ?? 0, queue: queue, counts: counts)

// A service group ends its services in the reverse order. The server answers the requests that it has accepted,
// and then the queue is closed.
var logger = Logger(label: "service")
logger.logLevel = .error
let services = ServiceGroup(
  services: [OperationQueueService(queue), server],
  gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)

if givenPort != nil {
  print("serving at http://127.0.0.1:\(server.port)/tiles/0")
  try await services.run()
} else {
  async let end: Void = services.run()

  let answers = try await Client.request(connections: 100, requestsEach: 40, port: server.port)
  print("\(answers.succeeded) requests answered, \(answers.failed) failed")
  print(
    "at most \(Server.limit) unfinished operations: \(counts.largestUnfinished <= Server.limit)")

  // The queue is suspended, so that these requests are unfinished when the signal arrives.
  queue.isSuspended = true
  async let lastAnswers = Client.request(connections: 32, requestsEach: 1, port: server.port)
  while queue.operationCount < 32 { try await Task.sleep(for: .milliseconds(1)) }
  kill(getpid(), SIGTERM)
  while (try? await Client.request([Int](), port: server.port)) != nil {
    try await Task.sleep(for: .milliseconds(1))
  }
  print("after SIGTERM, the service accepts no further connections")
  queue.isSuspended = false
  let last = try await lastAnswers
  print("\(last.succeeded) requests answered that it had accepted before, \(last.failed) failed")
  try await end
  print("the queue is closed: \(queue.isClosed), unfinished operations: \(queue.operationCount)")

  telemetry.stop()
  let spans = tracer.finishedSpans
  let requests = Set(spans.filter { $0.kind == .server }.map(\.spanID))
  let operations = spans.filter { $0.kind == .internal }
  let parents = Set(operations.compactMap(\.parentSpanID))
  print("\(requests.count) spans of requests, \(operations.count) spans of operations")
  print("each request has an operation as its child: \(parents == requests)")
}
