// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import Operations
import Synchronization

/// Renders tile pyramids of the Mandelbrot set, one after the other: real work for every part of
/// a queue, at a pace that a person can follow.
///
/// Tiles are computed on the queue `cpu` (two at once), merged four to one there, written as PNG
/// images on `io` (four), uploaded to nowhere on `net` (six) and listed on `index` (one). The seed
/// decides about everything: regions, names, sizes, pixels and planned times.
public final class TilesWorkload: Sendable {
  /// How a workload runs.
  public struct Options: Equatable, Sendable {
    /// Decides which pictures there are, and how long each operation takes; 7 by default.
    public var seed: UInt64
    /// How many times faster than planned everything goes; above 0, 1 by default.
    public var speed: Double
    /// Whether one pyramid is all; otherwise they arrive until `shutDown()`. `false` by default.
    public var isOnce: Bool
    /// Whether somebody is there to resume `net`, which then starts suspended unless `isOnce`.
    /// `true` by default.
    public var isInteractive: Bool
    /// The directory for the images, created if need be, whose files are never removed; `nil`,
    /// the default, is a temporary one that keeps the latest pyramids and goes away at the end.
    ///
    /// With `isOnce` the pyramid's files are in the directory itself, otherwise each pyramid has a
    /// directory of its own in it. A pyramid takes about 15 MB.
    public var outputDirectory: String?

    /// Creates options; each has its default.
    public init(
      seed: UInt64 = 7, speed: Double = 1, isOnce: Bool = false, isInteractive: Bool = true,
      outputDirectory: String? = nil
    ) {
      self.seed = seed
      self.speed = speed
      self.isOnce = isOnce
      self.isInteractive = isInteractive
      self.outputDirectory = outputDirectory
    }
  }

  let queues = LaneQueues()
  let directory: OutputDirectory
  private let options: Options
  private let shape: PyramidShape
  /// Where events are handled, one at a time: so what a launch adds is added before a later
  /// shut-down cancels it.
  private let control = DispatchQueue(label: "opq.demo.tiles")
  /// Entered by every operation, left when it has finished.
  private let outstanding = DispatchGroup()
  private let failures = WriteFailures()
  private let state: Mutex<State>

  private struct State {
    var schedule: PyramidSchedule
    var isFinished = false
    var handlers: [@Sendable () -> Void] = []
  }

  /// Creates a workload that has not started, and its directory.
  ///
  /// - Throws: When the speed is out of range, or the directory cannot be created or written.
  public convenience init(options: Options) throws(WorkloadError) {
    try self.init(options: options, shape: PyramidShape())
  }

  init(options: Options, shape: PyramidShape) throws(WorkloadError) {
    guard options.speed > 0, options.speed.isFinite else {
      throw WorkloadError(code: .invalidSpeed(options.speed))
    }
    directory = try OutputDirectory(requested: options.outputDirectory)
    self.options = options
    self.shape = shape
    state = Mutex(
      State(
        schedule: PyramidSchedule(
          isOnce: options.isOnce, isTemporary: directory.isTemporary)))
    queues[.net].isSuspended = options.isInteractive && !options.isOnce
  }

  /// Adds the first operations; returns when they are in their queues.
  ///
  /// Once is enough: a second time, or after `shutDown()`, it does nothing.
  public func start() { control.sync { handle { $0.start() } } }

  /// Calls a handler once, on any thread, when a once-run has finished; at once, before it
  /// returns, if it already has.
  ///
  /// Never calls it when the run goes on for ever, or is shut down before.
  public func whenFinished(_ handler: @escaping @Sendable () -> Void) {
    let isFinished = state.withLock { state in
      if !state.isFinished { state.handlers.append(handler) }
      return state.isFinished
    }
    if isFinished { handler() }
  }

  /// Which files could not be written so far; `nil` while all could. Any thread.
  ///
  /// The workload goes on without them: operations that fail finish like others.
  public var failure: WorkloadError? { failures.error }

  /// Cancels everything, waits for it for at most 1 s, and removes a temporary directory.
  ///
  /// Blocks. A calibration, which ignores its cancellation, may still be running when it returns;
  /// it touches no file. A second time it does nothing.
  public func shutDown() {
    control.sync {
      // Their captures may be the last references to something; that is no business of the lock.
      let handlers = state.withLock { state in
        state.schedule.stop()
        defer { state.handlers = [] }
        return state.handlers
      }
      withExtendedLifetime(handlers) {}
      for queue in queues.all.values { queue.cancelAllOperations() }
      // A suspended queue keeps even what is cancelled, and itself alive with it. Whoever watches
      // may have suspended any of them.
      for queue in queues.all.values { queue.isSuspended = false }
    }
    _ = outstanding.wait(timeout: .now() + .seconds(1))
    if directory.isTemporary { FileSystem.removeTree(directory.path) }
  }

  /// Tells the schedule of an event and does what it answers; on `control`.
  private func handle(_ event: (inout PyramidSchedule) -> [PyramidSchedule.Action]) {
    for action in state.withLock({ event(&$0.schedule) }) {
      switch action {
      case .launch(let number, let isUploaded): launch(number: number, isUploaded: isUploaded)
      case .remove(let number): remove(number: number)
      case .finish: finish()
      }
    }
  }

  private func launch(number: Int, isUploaded: Bool) {
    let plan = PyramidPlan(seed: options.seed, number: number, shape: shape)
    let pyramid = Pyramid(
      plan: plan, directory: path(ofPyramid: number), pacing: Pacing(speed: options.speed),
      failures: failures)
    let built = Countdown(from: plan.buildCount) { [weak self] in
      self?.report { $0.built(number) }
    }
    let uploaded = Countdown(from: plan.operations.count - plan.buildCount) { [weak self] in
      self?.report { $0.uploaded(number) }
    }
    var operations: [Operation] = []
    var lanes: [Lane: [Operation]] = [:]
    for planned in isUploaded ? plan.operations[...] : plan.operations[..<plan.buildCount] {
      let operation = planned.makeOperation(for: pyramid)
      for dependency in planned.dependencies {
        operation.addDependency(operations[dependency])
      }
      let countdown = operations.count < plan.buildCount ? built : uploaded
      outstanding.enter()
      // The block runs even for what was cancelled before it started: that is why it counts here,
      // and not in the operations.
      operation.completionBlock = { [outstanding] in
        countdown.countDown()
        outstanding.leave()
      }
      operations.append(operation)
      lanes[planned.lane, default: []].append(operation)
    }
    for lane in Lane.allCases {
      queues[lane].addOperations(lanes[lane, default: []], waitUntilFinished: false)
    }
  }

  private func remove(number: Int) {
    let operation = RemovePyramidOperation(directory: path(ofPyramid: number))
    operation.name = "remove pyramid \(number)"
    operation.queuePriority = .veryLow
    operation.qualityOfService = .background
    outstanding.enter()
    operation.completionBlock = { [outstanding] in outstanding.leave() }
    queues[.io].addOperation(operation)
  }

  private func finish() {
    let handlers = state.withLock { state in
      state.isFinished = true
      defer { state.handlers = [] }
      return state.handlers
    }
    // Not here: a handler may well shut the workload down, which waits for this queue.
    for handler in handlers { DispatchQueue.global().async(execute: handler) }
  }

  private func report(
    _ event: @escaping @Sendable (inout PyramidSchedule) -> [PyramidSchedule.Action]
  ) {
    control.async { [self] in handle(event) }
  }

  private func path(ofPyramid number: Int) -> String {
    options.isOnce ? directory.path : "\(directory.path)/pyramid-\(number)"
  }
}
