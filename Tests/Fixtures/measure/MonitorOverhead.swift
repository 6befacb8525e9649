// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import FixtureSupport
import Operations
import OperationsMonitor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A viewer in another process. A thread of this process reads the viewer's screen.
final class AttachedViewer: Sendable {
  private let isOver = Monitored(false)
  private let hasEnded = DispatchSemaphore(value: 0)
  private let isAttached = DispatchSemaphore(value: 0)

  /// Attaches a viewer.
  ///
  /// - Parameters:
  ///   - socketPath: The socket of the process.
  ///   - view: The name of the view that it shows, as for the option `--view`.
  init(of socketPath: String, view: String) {
    startThread { [isOver, hasEnded, isAttached] in
      defer { hasEnded.signal() }
      guard let window = try? PseudoTerminal(columns: 120, rows: 40),
        (try? window.start(
          BuiltFolder.path(of: "opq-top"), ["--socket", socketPath, "--view", view])) != nil,
        window.wait(until: { $0.contains("ATTACHED") })
      else { fatalError("cannot attach opq-top with the view \(view)") }
      isAttached.signal()
      while !isOver.value { window.absorb(for: .milliseconds(100)) }
      window.type("Q")
      _ = window.waitForEnd()
    }
    isAttached.wait()
  }

  /// Ends the viewer, and waits for its end.
  func end() {
    isOver.change { $0 = true }
    hasEnded.wait()
  }
}

/// Whether the process is monitored: not at all, listening for viewers, or with an attached viewer.
enum Watching: CaseIterable {
  case off, listening, attached
}

/// Measures the cost of monitoring for a process. The same work is done while the process does not
/// listen, while it listens, and while opq-top is attached to it on a terminal of 120x40. The
/// three cases are measured in turn, and each ratio is that of two measurements of the same round. The
/// program prints the median of the ratios.
///
///     fixture-measure monitor [ROUNDS [memory|empty|millisecond [VIEW]]]
enum MonitorOverhead {
  /// Does some work with one kind of monitoring, and returns the time that the work takes.
  static func time(
    _ watching: Watching, view: String = "operations", _ work: () -> Void
  ) throws -> Duration {
    var viewer: AttachedViewer?
    switch watching {
    case .off: break
    case .listening: try OperationMonitor.listen()
    case .attached: viewer = AttachedViewer(of: try OperationMonitor.listen(), view: view)
    }
    defer {
      viewer?.end()
      OperationMonitor.stopListening()
    }
    return ContinuousClock().measure(work)
  }

  /// The number of steps that take one millisecond on an idle machine. Operations compute this
  /// number of steps instead of a duration, so that a slower machine has an effect on the measured
  /// time.
  private static let stepsOfMillisecond: Int = {
    let steps = 1_000_000
    let times = (0..<50).map { _ in
      ContinuousClock().measure { if MeasuredWork.compute(steps) == 0 { print("") } }
    }
    return Int(Double(steps) / ((times.min() ?? .milliseconds(1)) / .milliseconds(1)))
  }()

  private static func compare(
    _ name: String, rounds: Int, count: Int, view: String, _ work: (Int) -> Void
  ) throws {
    work(count / 10)
    var ratios: [Watching: [Double]] = [:]
    var times: [Watching: [Double]] = [:]
    for round in 0..<rounds {
      var taken: [Watching: Duration] = [:]
      // The order of the three measurements changes from round to round, so that each is first,
      // second and last equally often.
      for index in 0..<3 {
        let watching = Watching.allCases[(index + round) % 3]
        taken[watching] = try time(watching, view: view) { work(count) }
      }
      guard let off = taken[.off] else { continue }
      for (watching, time) in taken {
        ratios[watching, default: []].append(time / off)
        times[watching, default: []].append(time / .nanoseconds(count))
      }
    }
    let nanoseconds = Int(median(times[.off] ?? [0]))
    print(
      "\(name): \(nanoseconds) ns each; listening \(percent(median(ratios[.listening] ?? [0]))), "
        + "attached \(percent(median(ratios[.attached] ?? [0])))")
  }

  /// Creates a suspended queue and adds operations, which are never released. Returns the number of
  /// bytes by which the memory of the process has grown.
  private static func grow(by count: Int) -> Int {
    let before = ProcessStatus.amount("VmRSS")
    let queue = OperationQueue()
    queue.isSuspended = true
    for _ in 0..<count { queue.addOperation {} }
    return (ProcessStatus.amount("VmRSS") - before) * 1_024
  }

  /// Measures the memory that waiting operations need, and the additional memory that they need if
  /// a viewer is attached.
  private static func measureMemory(count: Int) throws {
    let alone = grow(by: count) / count
    let before = ProcessStatus.amount("VmRSS")
    var added = 0
    _ = try time(.attached) {
      added = (MeasuredWork.settledMemory(quietFor: .seconds(2)) - before) * 1_024 / count
    }
    print("memory of one that waits: \(alone) bytes, and \(added) bytes more while attached")
  }

  static func run(_ arguments: [String]) throws {
    let rounds = arguments.first.flatMap { Int($0) } ?? 9
    let part = arguments.dropFirst().first
    let view = arguments.dropFirst(2).first ?? "operations"
    if part == nil || part == "memory" { try measureMemory(count: 500_000) }
    if part == nil || part == "empty" {
      try compare(
        "empty operations", rounds: rounds, count: 10_000_000, view: view, MeasuredWork.runEmpty)
    }
    if part == nil || part == "millisecond" {
      let steps = stepsOfMillisecond
      try compare("1 ms operations", rounds: rounds, count: 2_000, view: view) {
        MeasuredWork.runComputing($0, steps: steps)
      }
    }
  }
}
