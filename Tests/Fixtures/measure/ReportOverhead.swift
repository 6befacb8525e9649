// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import OperationsMonitor

/// Measures the time of the calls with which the code of an operation reports what it does and logs, without and
/// with an attached opq-top on a terminal of 120x40. The program prints the smallest time of several rounds.
///
///     fixture-measure reports [ROUNDS]
enum ReportOverhead {
  /// Returns the nanoseconds of one call, in the block of an operation that makes many calls.
  private static func nanoseconds(
    _ watching: Watching, count: Int, _ call: @escaping @Sendable (Int) -> Void
  ) throws -> Double {
    let queue = OperationQueue()
    let work = BlockOperation {
      for index in 0..<count { call(index) }
    }
    let time = try MonitorOverhead.time(watching) {
      queue.addOperations([work], waitUntilFinished: true)
    }
    return time / .nanoseconds(1) / Double(count)
  }

  private static func compare(
    _ name: String, rounds: Int, count: Int, _ call: @escaping @Sendable (Int) -> Void
  ) throws {
    var times: [Watching: Double] = [:]
    for _ in 0..<rounds {
      for watching in [Watching.off, .attached] {
        let time = try nanoseconds(watching, count: count, call)
        times[watching] = min(time, times[watching] ?? .infinity)
      }
    }
    let texts = [Watching.off, .attached].map { watching in
      let tenths = Int((times[watching] ?? 0) * 10)
      return "\(tenths / 10).\(tenths % 10) ns"
    }
    print("\(name): \(texts[0]), attached \(texts[1])")
  }

  static func run(_ arguments: [String]) throws {
    let rounds = arguments.first.flatMap { Int($0) } ?? 5
    let count = 20_000_000
    try compare("Operation.current", rounds: rounds, count: count) { _ in
      if Operation.current == nil { fatalError("no operation") }
    }
    let queue = OperationQueue()
    let operation = BlockOperation {}
    queue.isSuspended = true
    queue.addOperation(operation)
    try compare("reportProgress(completed:of:)", rounds: rounds, count: count) { index in
      operation.reportProgress(completed: index, of: count)
    }
    try compare("reportStatus(_:)", rounds: rounds, count: count) { _ in
      operation.reportStatus("converting")
    }
    try compare("appendLogLine(_:level:)", rounds: rounds, count: count / 10) { _ in
      operation.appendLogLine("converting page 1 of the document", level: .info)
    }
    operation.cancel()
  }
}
