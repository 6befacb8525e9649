// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@Suite("The store of operations")
struct OperationStoreTests {
  private typealias ID = OperationReport.ID

  private static func report(_ id: Int, _ state: OperationState, on targets: [Int] = [])
    -> OperationReport
  {
    OperationReport(
      id: ID(UInt64(id)), name: "job \(id)", className: "Block", queue: .init(1), state: state,
      dependencies: targets.map { ID(UInt64($0)) })
  }

  @Test(
    "After random changes, it contains the same operations as a dictionary", arguments: 0..<10)
  func itEqualsADictionary(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var store = OperationStore()
    var model: [ID: OperationReport] = [:]
    for _ in 0..<100 {
      let changed = (0..<Int.random(in: 0...4, using: &random)).map { _ in
        let targets = (0..<Int.random(in: 0...3, using: &random)).map { _ in
          Int.random(in: 1...20, using: &random)
        }
        return Self.report(
          Int.random(in: 1...20, using: &random),
          OperationState.allCases.randomElement(using: &random) ?? .ready,
          on: Array(Set(targets)).sorted())
      }
      let removed = (0..<Int.random(in: 0...4, using: &random)).map { _ in
        ID(UInt64.random(in: 1...20, using: &random))
      }
      store.apply(changed: changed, removed: removed)
      for report in changed { model[report.id] = report }
      for id in removed { model[id] = nil }
      #expect(store.count == model.count && Set(store.ids) == Set(model.keys), "seed \(seed)")
      #expect(Set(store.all.map(\.id)) == Set(model.keys), "seed \(seed)")
      for id in (1...20).map({ ID(UInt64($0)) }) {
        let dependents = model.values.filter { $0.dependencies.contains(id) }.map(\.id).sorted()
        #expect(store[id] == model[id] && store.contains(id) == (model[id] != nil))
        #expect(store.state(of: id) == model[id]?.state, "seed \(seed)")
        #expect(store.dependents(of: id) == dependents, "seed \(seed)")
      }
    }
  }

  @Test func storesAreEqualIfTheyContainEqualOperations() {
    let (first, second) = (Self.report(1, .ready), Self.report(2, .waiting, on: [1]))
    var left = OperationStore()
    left.apply(changed: [first, second], removed: [])
    var right = OperationStore()
    right.apply(changed: [second, Self.report(1, .waiting)], removed: [])
    #expect(left != right)
    right.apply(changed: [first], removed: [])
    #expect(left == right)
    right.apply(changed: [], removed: [first.id])
    #expect(left != right)
  }
}
