// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import OperationsCore
@testable import OperationsCollector

@Suite("Lists of operations with exact names") struct ExactNameTests {
  private let watched = WatchedQueue()
  private let session = SessionID(rawValue: 1)

  private func add(_ names: [String]) -> [OperationReport.ID] {
    let operations = names.map { name in
      let operation = BlockOperation {}
      operation.name = name
      return operation
    }
    watched.queue.addOperations(operations, waitUntilFinished: false)
    watched.read()
    return operations.map { OperationReport.ID($0) }
  }

  /// Sets the interest of the session, and returns its next update.
  private func update(for interest: Interest) throws -> Update {
    watched.table.keepList(for: session, interest, at: MonitorTime.now)
    let list = try #require(watched.table.lists[session])
    list.fill(from: watched.table, until: .now + .seconds(60))
    return list.takeUpdate(from: watched.table)
  }

  @Test("A list can have only operations with given names, whatever their number is")
  func exactNames() throws {
    watched.queue.isSuspended = true
    let ids = add(["job 1", "job", "job 10", "say \"hi\""])
    var interest = Interest(order: SortOrder(by: .id), rowLimit: 1)
    interest.names = ["job"]
    let first = try update(for: interest)
    #expect(first.changed.map(\.id) == [ids[1]] && first.matchCount == 1)
    interest.names = ["say \"hi\""]
    let second = try update(for: interest)
    #expect(second.changed.map(\.id) == [ids[3]] && second.removed == [ids[1]])
    watched.finishAll()
  }

  @Test("An operation that is added later joins the list if it has one of the names")
  func laterOperations() throws {
    watched.queue.isSuspended = true
    let early = add(["job", "job 1"])
    var interest = Interest()
    interest.names = ["job", "new"]
    #expect(try update(for: interest).changed.map(\.id) == [early[0]])
    let late = add(["new", "newer"])
    #expect(try update(for: interest).changed.map(\.id) == [late[0]])
    watched.finishAll()
  }

  @Test("The operations of the list must also match the filter")
  func namesAndFilter() throws {
    watched.queue.isSuspended = true
    let ids = add(["job", "other"])
    var interest = Interest(filter: try OperationFilter("oth"))
    interest.names = ["job", "other"]
    #expect(try update(for: interest).changed.map(\.id) == [ids[1]])
    watched.finishAll()
  }
}
