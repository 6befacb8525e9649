// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import OperationsCore

@Suite("Lists through operations: band, queue, inbox")
struct OperationListsTests {
  private func names(_ list: OperationList<QueueLinks>) -> [String] {
    var names: [String] = []
    var current = list.after(nil)
    while let operation = current {
      names.append(operation.takeUnretainedValue().name ?? "")
      current = list.after(operation)
    }
    return names
  }

  @Test("Q-9: a list keeps the order of addition after any removal", arguments: 0..<20 as Range)
  func listAgainstModel(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var list = OperationList<QueueLinks>()
    var model: [Operation] = []
    for step in 0..<200 {
      if Bool.random(using: &random) || model.isEmpty {
        let operation = SchedulerBench.operation("\(step)")
        list.append(.passUnretained(operation))
        model.append(operation)
      } else {
        let removed = model.remove(at: Int.random(in: 0..<model.count, using: &random))
        list.remove(.passUnretained(removed))
      }
      #expect(names(list) == model.map { $0.name ?? "" })
      #expect(list.isEmpty == model.isEmpty)
      #expect(list.last?.takeUnretainedValue() === model.last)
    }
  }

  @Test("PR-3: bands return the oldest operation of the highest band")
  func bands() {
    var bands = ReadyBands()
    #expect(bands.isEmpty && bands.first == nil)
    let operations = (0..<6).map { SchedulerBench.operation("\($0)") }
    for band in (0..<6).reversed() {
      bands.append(.passUnretained(operations[band]), to: UInt8(band))
    }
    let second = SchedulerBench.operation("second")
    bands.append(.passUnretained(second), to: 0)
    #expect(bands.first?.takeUnretainedValue() === operations[0])
    bands.remove(.passUnretained(operations[0]), from: 0)
    #expect(bands.first?.takeUnretainedValue() === second)
    bands.remove(.passUnretained(second), from: 0)
    for band in 1..<6 {
      #expect(bands.first?.takeUnretainedValue() === operations[band])
      bands.remove(.passUnretained(operations[band]), from: UInt8(band))
    }
    #expect(bands.isEmpty)
    #expect(ReadyBands.band(priorityIndex: 0) == 1 && ReadyBands.cancelled == 0)
  }

  @Test("Q-5: an inbox returns operations in the order of the pushes, and batches together")
  func inbox() {
    let inbox = OperationInbox()
    #expect(inbox.isEmpty && inbox.takeAll() == nil)
    let operations = (0..<4).map { SchedulerBench.operation("\($0)") }
    func push(_ first: Operation, _ last: Operation) {
      inbox.push(first: .passUnretained(first), last: .passUnretained(last))
    }
    push(operations[0], operations[0])
    operations[2].inboxNext = .passUnretained(operations[1])
    push(operations[1], operations[2])
    push(operations[3], operations[3])
    #expect(inbox.isEmpty == false)
    var taken: [String] = []
    var current = inbox.takeAll()
    while let operation = current?.takeUnretainedValue() {
      taken.append(operation.name ?? "")
      current = operation.inboxNext
    }
    #expect(taken == ["0", "1", "2", "3"] && inbox.isEmpty)
  }
}
