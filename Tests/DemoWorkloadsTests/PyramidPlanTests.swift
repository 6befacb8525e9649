// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import Testing

@testable import DemoWorkloads

@Suite struct PyramidPlanTests {
  private let plan = PyramidPlan(seed: 7, number: 4)

  private func position(_ name: String) throws -> Int {
    try #require(plan.operations.firstIndex { $0.name == name })
  }

  private func dependencyNames(of name: String) throws -> [String] {
    let operation = plan.operations[try position(name)]
    return operation.dependencies.map { plan.operations[$0].name }
  }

  @Test func aPlanRepeats() {
    #expect(plan == PyramidPlan(seed: 7, number: 4))
    #expect(plan != PyramidPlan(seed: 8, number: 4))
    #expect(plan != PyramidPlan(seed: 7, number: 5))
  }

  @Test func aPyramidHasTheseOperations() {
    var counts: [Lane: Int] = [:]
    for operation in plan.operations { counts[operation.lane, default: 0] += 1 }
    // A pyramid of image tiles has 64 + 16 + 4 + 1 tiles, one calibration and one complete picture.
    // Each tile and the picture are written and uploaded.
    #expect(counts == [.cpu: 86, .io: 86, .net: 86, .index: 2])
    #expect(plan.buildCount == 86 + 86 + 1)
    #expect(plan.images.count == 86)
  }

  @Test("About one operation in a hundred fails at first and is retried, and writes an image")
  func retriedOperations() {
    let retried = plan.operations.filter(\.isRetried)
    #expect(retried.count == 3 && retried.allSatisfy { $0.lane == .io })
  }

  @Test func namesAreUnique() {
    #expect(Set(plan.operations.map(\.name)).count == plan.operations.count)
  }

  @Test func everyOperationFollowsItsDependencies() {
    for (position, operation) in plan.operations.enumerated() {
      #expect(operation.dependencies.allSatisfy { $0 < position }, "\(operation.name)")
    }
  }

  @Test func buildingNeverWaitsForTheNetwork() {
    #expect(plan.operations[..<plan.buildCount].allSatisfy { $0.lane != .net })
    #expect(plan.operations[plan.buildCount - 1].name == "index pyramid 4")
  }

  @Test func dependenciesFollowThePicture() throws {
    #expect(try dependencyNames(of: "compute tile 3/2/5").isEmpty)
    #expect(
      try dependencyNames(of: "merge tile 2/1/2") == [
        "compute tile 3/2/4", "compute tile 3/3/4", "compute tile 3/2/5", "compute tile 3/3/5",
      ])
    #expect(try dependencyNames(of: "write 2/1/2.png") == ["merge tile 2/1/2"])
    #expect(try dependencyNames(of: "upload 2/1/2.png") == ["write 2/1/2.png"])
    #expect(try dependencyNames(of: "calibrate picture 4") == ["merge tile 0/0/0"])
    #expect(
      try dependencyNames(of: "write pyramid.png") == ["merge tile 0/0/0", "calibrate picture 4"])
    let writes = try dependencyNames(of: "index pyramid 4")
    #expect(writes.count == 86 && writes.allSatisfy { $0.hasPrefix("write ") })
    let last = try dependencyNames(of: "publish pyramid 4")
    #expect(last.count == 87 && last.contains("index pyramid 4"))
  }

  @Test func laterStagesHaveHigherPriorities() throws {
    func priority(_ name: String) throws -> Int {
      plan.operations[try position(name)].priority.rawValue
    }
    #expect(try priority("index pyramid 4") > priority("merge tile 2/1/2"))
    #expect(try priority("merge tile 2/1/2") > priority("compute tile 3/2/5"))
    #expect(try priority("compute tile 3/2/5") > priority("upload 2/1/2.png"))
    #expect(try priority("upload 2/1/2.png") > priority("upload 3/2/5.png"))
  }

  @Test func sizesDoubleFromLevelToLevel() {
    #expect(plan.side(of: .tile(TileCoordinate(level: 3, column: 0, row: 0))) == 128)
    #expect(plan.side(of: .tile(TileCoordinate(level: 2, column: 0, row: 0))) == 256)
    #expect(plan.side(of: .tile(.whole)) == 1024)
    #expect(plan.side(of: .picture) == 1024)
  }

  @Test func durationsAreLongEnoughToFollow() {
    for number in 1...20 {
      let plan = PyramidPlan(seed: 7, number: number)
      #expect(
        plan.operations.allSatisfy { (.milliseconds(100) ... .seconds(5)).contains($0.duration) })
      for lane in Lane.allCases {
        let total = plan.operations.filter { $0.lane == lane }.reduce(Duration.zero) {
          $0 + $1.duration
        }
        // The operations of one pyramid of tiles keep each queue busy for less than 30 s.
        #expect(total / lane.width < .seconds(30), "\(lane) in pyramid \(number)")
      }
    }
  }

  @Test func onlyTheCalibrationIsLong() {
    let long = plan.operations.filter { $0.duration > .seconds(3) }
    #expect(long.map(\.name) == ["calibrate picture 4"])
  }

  @Test func everyPlaceIsUsedOnceBeforeAnyIsRepeated() {
    let count = Place.all.count
    let names = (1...2 * count).map { PyramidPlan(seed: 3, number: $0).placeName }
    #expect(Set(names[..<count]).count == count)
    #expect(Set(names[count...]).count == count)
    #expect(names[..<count] != names[count...])
  }

  @Test func aRegionStaysNearItsPlace() throws {
    for number in 1...30 {
      let plan = PyramidPlan(seed: 11, number: number)
      let place = try #require(Place.all.first { $0.name == plan.placeName })
      let width = place.region.width
      #expect(abs(plan.region.centerReal - place.region.centerReal) <= width * 0.05)
      #expect((width * 0.85...width * 1.2).contains(plan.region.width))
    }
  }
}
