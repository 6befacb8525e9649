// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import TestSupport
import Testing

@testable import DemoWorkloads

/// Complete runs of the demo that renders a pyramid of image tiles, with 16 computed tiles and at a
/// speed at which simulated delays are negligible.
@Suite(.timeLimit(.minutes(10))) struct TilesWorkloadTests {
  private let shape = PyramidShape(deepestLevel: 2, leafSide: 8)
  private let scratch: TemporaryDirectory

  init() throws { scratch = try TemporaryDirectory() }

  private func workload(
    seed: UInt64 = 7, isOnce: Bool = true, isInteractive: Bool = false, isTemporary: Bool = false
  ) throws -> TilesWorkload {
    let options = WorkloadOptions(
      seed: seed, speed: 1e6, isOnce: isOnce, isInteractive: isInteractive,
      outputDirectory: isTemporary ? nil : "\(scratch.path)/\(seed)")
    return try TilesWorkload(options: options, shape: shape)
  }

  private func finish(_ workload: TilesWorkload) async {
    await withCheckedContinuation { continuation in
      workload.whenFinished { continuation.resume() }
    }
  }

  private func operation(_ name: String, of workload: TilesWorkload) throws -> Operation {
    let all = workload.queues.all.values.flatMap(\.operations)
    return try #require(all.first { $0.name == name })
  }

  private func image(_ name: String, seed: UInt64 = 7) throws -> Image {
    try DecodedPNG(#require(scratch.contents(of: "\(seed)/\(name)"))).image
  }

  @Test func aOnceRunLeavesThePictureTheTilesAndTheIndex() async throws {
    let workload = try workload()
    workload.start()
    await finish(workload)
    workload.shutDown()

    let plan = PyramidPlan(seed: 7, number: 1, shape: shape)
    for name in plan.images {
      #expect(try image("\(name)").side == plan.side(of: name))
    }
    #expect(try image("pyramid.png").side == 32)
    #expect(try image("2/1/3.png").row(0) == plan.renderer(of: tile(2, 1, 3)).row(0)[...])
    let index = try #require(scratch.text(of: "7/index.json"))
    let bytes = PNGEncoder.encodedSize(side: 8)
    #expect(
      index.contains(
        #"{"file": "2/1/3.png", "side": 8, "bytes": \#(bytes), "state": "written"}"#))
    #expect(index.split(separator: "\"written\"").count == plan.images.count + 1)
    #expect(
      scratch.text(of: "7/published.json") == """
        {
          "pyramid": 1,
          "uploaded": 22,
          "missing": []
        }

        """)
  }

  @Test func filesThatCannotBeWrittenAreCountedAndTheFirstIsNamed() async throws {
    let workload = try workload()
    // The test creates directories with the names of the output files, so that the files cannot be
    // written: even root cannot replace a directory by a file.
    let names = ["pyramid.png", "index.json"]
    for name in names { try FileSystem.createDirectory("\(scratch.path)/7/\(name)") }
    #expect(workload.failure == nil)
    workload.start()
    await finish(workload)
    workload.shutDown()
    #expect(
      workload.failure?.description == "could not write 2 files; the first one is "
        + "\(scratch.path)/7/pyramid.png: Is a directory")
  }

  @Test func theSameSeedLeavesTheSameBytes() async throws {
    var runs: [[[UInt8]?]] = []
    for _ in 0..<2 {
      let workload = try workload(seed: 5)
      workload.start()
      await finish(workload)
      runs.append(["pyramid.png", "index.json"].map { scratch.contents(of: "5/\($0)") })
    }
    #expect(runs[0] == runs[1])
    #expect(runs[0][0] != nil)
  }

  @Test func aFinishedRunCallsItsHandlerBeforeItReturns() async throws {
    let workload = try workload()
    workload.start()
    await finish(workload)
    await confirmation { called in workload.whenFinished { called() } }
  }

  @Test func aFinishedRunHoldsNoOperation() async throws {
    let workload = try workload()
    workload.queues[.cpu].isSuspended = true
    workload.start()
    weak let merge = try operation("merge tile 0/0/0", of: workload)
    #expect(merge != nil)
    workload.queues[.cpu].isSuspended = false
    await finish(workload)
    workload.shutDown()
    #expect(await eventually { merge == nil })
  }

  @Test func aMergeWithoutOneTileDrawsThatQuarterFlat() async throws {
    let workload = try workload()
    workload.queues[.cpu].isSuspended = true
    workload.start()
    try operation("compute tile 2/1/0", of: workload).cancel()
    workload.queues[.cpu].isSuspended = false
    await finish(workload)

    let grey = Image(side: 8, filledWith: MergeTilesOperation.flatGrey)
    let merged = try image("1/0/0.png")
    for row in 0..<8 { #expect(merged.row(row).suffix(24) == grey.row(row)) }
    #expect(merged.row(0).prefix(24) == (try image("2/0/0.png")).row(0))
    #expect(!scratch.exists("7/2/1/0.png"))
    let index = try #require(scratch.text(of: "7/index.json"))
    #expect(
      index.contains(#"{"file": "2/1/0.png", "side": 8, "bytes": 0, "state": "no image"}"#))
    let published = try #require(scratch.text(of: "7/published.json"))
    #expect(published.contains(#""missing": ["2/1/0.png"]"#))
  }

  @Test func withoutCalibrationTheMergedPictureIsThePicture() async throws {
    let workload = try workload()
    workload.queues[.cpu].isSuspended = true
    workload.start()
    try operation("calibrate picture 1", of: workload).cancel()
    workload.queues[.cpu].isSuspended = false
    await finish(workload)
    #expect(try image("pyramid.png") == image("0/0/0.png"))
  }

  @Test(arguments: [
    "compute tile 2/3/3", "merge tile 1/0/1", "merge tile 0/0/0", "calibrate picture 1",
    "write 1/0/0.png", "write pyramid.png", "upload 2/0/0.png", "index pyramid 1",
    "publish pyramid 1",
  ])
  func aRunFinishesWithoutOneOperation(name: String) async throws {
    let workload = try workload()
    workload.queues[.cpu].isSuspended = true
    workload.start()
    try operation(name, of: workload).cancel()
    workload.queues[.cpu].isSuspended = false
    await finish(workload)
    #expect(workload.queues.all.values.allSatisfy { $0.operations.isEmpty })
  }

  @Test(arguments: Lane.allCases)
  func aRunFinishesWithoutAWholeQueue(lane: Lane) async throws {
    let workload = try workload()
    workload.queues[.cpu].isSuspended = true
    workload.start()
    workload.queues[lane].cancelAllOperations()
    workload.queues[.cpu].isSuspended = false
    await finish(workload)
    #expect(scratch.exists("7/pyramid.png") == (lane == .net || lane == .index))
  }

  @Test func pyramidsKeepArrivingWhileTheNetworkIsSuspended() async throws {
    let workload = try workload(isOnce: false, isInteractive: true)
    #expect(workload.queues[.net].isSuspended)
    workload.start()
    #expect(await eventually { scratch.exists("7/pyramid-6/index.json") })
    // Only the first three pyramids of tiles are uploaded, and the suspended queue holds all of
    // their uploads.
    #expect(workload.queues[.net].operationCount == 3 * 22)
    workload.shutDown()
    #expect(await eventually { workload.queues.all.values.allSatisfy { $0.operationCount == 0 } })
    #expect(scratch.exists("7/pyramid-1/pyramid.png"))
  }

  @Test func postersAreRenderedOnlyIfAUserControlsTheQueues() async throws {
    let workload = try workload(isOnce: false, isInteractive: true)
    #expect(workload.queues[.cpu].maxConcurrentOperationCount == 4)
    workload.start()
    #expect(
      await eventually { scratch.exists("7/poster-1.png") && scratch.exists("7/poster-2.png") })
    #expect(try image("poster-1.png").side == 32)
    workload.shutDown()
    for (isOnce, isInteractive) in [(true, true), (false, false)] {
      let workload = try self.workload(isOnce: isOnce, isInteractive: isInteractive)
      workload.queues[.cpu].isSuspended = true
      workload.start()
      let names = workload.queues[.cpu].operations.compactMap(\.name)
      #expect(!names.contains { $0.contains("poster") })
      #expect(workload.queues[.cpu].maxConcurrentOperationCount == 2)
      workload.shutDown()
    }
  }

  @Test func theFirstPosterIsTheFirstOperationOfItsQueue() throws {
    let workload = try workload(isOnce: false, isInteractive: true)
    workload.queues[.cpu].isSuspended = true
    workload.start()
    #expect(
      workload.queues[.cpu].operations.prefix(2).map(\.name) == [
        "render poster 1", "render poster 2",
      ])
    workload.shutDown()
  }

  @Test func oldPyramidsLeaveTheTemporaryDirectory() async throws {
    let workload = try workload(isOnce: false, isInteractive: true, isTemporary: true)
    let path = workload.directory.path
    workload.start()
    // The suspended queue holds the uploads, so the directory still exists when the test looks for
    // it.
    #expect(await eventually { FileSystem.isDirectory("\(path)/pyramid-1") })
    workload.queues[.net].isSuspended = false
    #expect(await eventually { !FileSystem.isDirectory("\(path)/pyramid-1") })
    workload.shutDown()
    #expect(!FileSystem.isDirectory(path))
  }

  @Test func shuttingDownEarlyLeavesNothingBehind() throws {
    let workload = try workload(isOnce: false, isInteractive: true, isTemporary: true)
    workload.start()
    workload.shutDown()
    #expect(!FileSystem.isDirectory(workload.directory.path))
    workload.shutDown()
    workload.start()
    #expect(workload.queues.all.values.allSatisfy { $0.operationCount == 0 })
  }

  @Test func shuttingDownEmptiesQueuesThatAreSuspended() async throws {
    let workload = try workload(isOnce: false, isInteractive: true)
    for queue in workload.queues.all.values { queue.isSuspended = true }
    workload.start()
    workload.shutDown()
    #expect(await eventually { workload.queues.all.values.allSatisfy { $0.operationCount == 0 } })
  }

  @Test func aWorkloadThatNeverStartedShutsDown() throws {
    let workload = try workload(isTemporary: true)
    workload.shutDown()
    #expect(!FileSystem.isDirectory(workload.directory.path))
  }

  @Test func aOnceRunDoesNotSuspendTheNetwork() throws {
    let workload = try workload(isInteractive: true)
    #expect(!workload.queues[.net].isSuspended)
  }

  @Test func theQueuesHaveTheirNamesAndWidths() throws {
    let queues = try workload().queues
    #expect(Lane.allCases.map { queues[$0].name } == ["cpu", "io", "net", "index"])
    #expect(Lane.allCases.map { queues[$0].maxConcurrentOperationCount } == [2, 4, 6, 1])
  }

  @Test(arguments: [0, -1, .infinity, .nan] as [Double])
  func anInvalidSpeedIsRefused(speed: Double) {
    let error = #expect(throws: WorkloadError.self) {
      try TilesWorkload(options: WorkloadOptions(speed: speed))
    }
    #expect(error?.description == "the speed must be a number above 0, not \(speed)")
  }

  private func tile(_ level: Int, _ column: Int, _ row: Int) -> TileCoordinate {
    TileCoordinate(level: level, column: column, row: row)
  }
}
