// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import Synchronization

/// A workload that renders tile pyramids of the Mandelbrot set, one after the other. The work is real, and it
/// is slow enough for a user to follow.
///
/// The queue `cpu` computes up to two tiles at a time, and merges four tiles to one. The queue `io` writes up
/// to four PNG images at a time. The queue `net` uploads up to six images at a time, without a server. The
/// queue `index` lists the images. If a user can control the queues, the queue `cpu` also renders two posters
/// at a time, which take much longer than tiles. The seed determines everything: regions, names, sizes,
/// pixels and planned times.
final class TilesWorkload: DemoWorkload {
  let queues = LaneQueues()
  let directory: OutputDirectory
  private let options: WorkloadOptions
  private let pacing: Pacing
  private let shape: PyramidShape
  private let run: WorkloadRun
  private let failures = WriteFailures()
  private let schedule: Mutex<PyramidSchedule>

  /// Creates a workload that has not started, and creates the directory for its files.
  ///
  /// - Throws: `WorkloadError` if the speed is out of range, or if the directory cannot be created or
  ///   written.
  init(options: WorkloadOptions, shape: PyramidShape = PyramidShape()) throws(WorkloadError) {
    pacing = try options.pacing()
    directory = try OutputDirectory(requested: options.outputDirectory)
    self.options = options
    self.shape = shape
    run = WorkloadRun(queues: Array(queues.all.values))
    let isControlled = options.isInteractive && !options.isOnce
    let posterSeriesCount = isControlled ? Self.posterSeriesCount : 0
    schedule = Mutex(
      PyramidSchedule(
        isOnce: options.isOnce, isTemporary: directory.isTemporary,
        posterSeriesCount: posterSeriesCount))
    queues[.net].isSuspended = isControlled
    // The posters have their own slots, so that tiles are computed as fast as without posters.
    queues[.cpu].maxConcurrentOperationCount += posterSeriesCount
  }

  /// The number of posters that are rendered at the same time.
  private static let posterSeriesCount = 2

  /// Adds the first operations. When the function returns, these operations are in their queues.
  func start() { run.decideNow { handle { $0.start() } } }

  func whenFinished(_ handler: @escaping @Sendable () -> Void) { run.whenFinished(handler) }

  /// The error about the files that the workload could not write; `nil` if the workload could write all files
  /// so far.
  ///
  /// The workload continues after such errors: operations that fail finish like other operations.
  var failure: WorkloadError? { failures.error }

  /// Shuts the workload down. If its directory is temporary, removes the directory.
  ///
  /// The operation that calibrates a picture ignores its cancellation and may still run when the method
  /// returns. It uses no file.
  func shutDown() {
    run.shutDown()
    if directory.isTemporary { FileSystem.removeTree(directory.path) }
  }

  /// Reports an event to the schedule and performs the actions that the schedule returns, one event at a
  /// time.
  private func handle(_ event: (inout PyramidSchedule) -> [PyramidSchedule.Action]) {
    for action in schedule.withLock({ event(&$0) }) {
      switch action {
      case .launch(let number, let isUploaded): launch(number: number, isUploaded: isUploaded)
      case .render(let poster, let series): render(poster: poster, series: series)
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
      // The completion block also runs if the operation was cancelled before it started. Therefore finished
      // operations are counted in the completion block, and not at the end of their work.
      operation.completionBlock = { countdown.countDown() }
      operations.append(operation)
      lanes[planned.lane, default: []].append(operation)
    }
    for lane in Lane.allCases {
      queues[lane].addOperations(lanes[lane, default: []], waitUntilFinished: false)
    }
  }

  private func render(poster: Int, series: Int) {
    // The posters of a series have the same file, so that the number of files is limited.
    let operation = RenderPosterOperation(
      PosterPlan(seed: options.seed, number: poster, shape: shape),
      path: "\(directory.path)/poster-\(series + 1).png", pacing: pacing, failures: failures)
    operation.completionBlock = { [weak self] in
      self?.report { $0.posterEnded(inSeries: series) }
    }
    queues[.cpu].addOperation(operation)
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
