// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import Synchronization

/// Renders tile pyramids of the Mandelbrot set, one after the other: the work is real, and its pace is slow
/// enough for a user to follow.
///
/// Tiles are computed on the queue `cpu` (two at once), merged four to one there, written as PNG images on
/// `io` (four), uploaded on `net` (six), without a server, and listed on `index` (one). The seed determines
/// everything: regions, names, sizes, pixels and planned times.
final class TilesWorkload: DemoWorkload {
  let queues = LaneQueues()
  let directory: OutputDirectory
  private let options: WorkloadOptions
  private let pacing: Pacing
  private let shape: PyramidShape
  private let run: WorkloadRun
  private let failures = WriteFailures()
  private let schedule: Mutex<PyramidSchedule>

  /// Creates a workload that has not started, and its directory.
  ///
  /// - Throws: `WorkloadError` if the speed is out of range, or if the directory cannot be created or
  ///   written.
  init(options: WorkloadOptions, shape: PyramidShape = PyramidShape()) throws(WorkloadError) {
    pacing = try options.pacing()
    directory = try OutputDirectory(requested: options.outputDirectory)
    self.options = options
    self.shape = shape
    run = WorkloadRun(queues: Array(queues.all.values))
    schedule = Mutex(
      PyramidSchedule(isOnce: options.isOnce, isTemporary: directory.isTemporary))
    queues[.net].isSuspended = options.isInteractive && !options.isOnce
  }

  /// Adds the first operations, and returns when they are in their queues.
  func start() { run.decideNow { handle { $0.start() } } }

  func whenFinished(_ handler: @escaping @Sendable () -> Void) { run.whenFinished(handler) }

  /// The files that could not be written so far.
  ///
  /// The workload continues without them: operations that fail finish like others.
  var failure: WorkloadError? { failures.error }

  /// Shuts down the workload, and removes a temporary directory.
  ///
  /// A calibration, which ignores its cancellation, may still be running when it returns; it uses no file.
  func shutDown() {
    run.shutDown()
    if directory.isTemporary { FileSystem.removeTree(directory.path) }
  }

  /// Reports an event to the schedule and performs the returned actions, one event at a time.
  private func handle(_ event: (inout PyramidSchedule) -> [PyramidSchedule.Action]) {
    for action in schedule.withLock({ event(&$0) }) {
      switch action {
      case .launch(let number, let isUploaded): launch(number: number, isUploaded: isUploaded)
      case .remove(let number): remove(number: number)
      case .finish: run.finish()
      }
    }
  }

  private func launch(number: Int, isUploaded: Bool) {
    let plan = PyramidPlan(seed: options.seed, number: number, shape: shape)
    let pyramid = Pyramid(
      plan: plan, directory: path(ofPyramid: number), pacing: pacing, failures: failures)
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
      // The block runs even for operations that were cancelled before they started. Therefore the operation
      // is counted here, and not in its own work.
      operation.completionBlock = { countdown.countDown() }
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
    queues[.io].addOperation(operation)
  }

  private func report(
    _ event: @escaping @Sendable (inout PyramidSchedule) -> [PyramidSchedule.Action]
  ) {
    run.decide { [weak self] in self?.handle(event) }
  }

  private func path(ofPyramid number: Int) -> String {
    options.isOnce ? directory.path : "\(directory.path)/pyramid-\(number)"
  }
}
