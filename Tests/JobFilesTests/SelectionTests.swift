// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import Testing

@Suite struct SelectionTests {
  private func plan() throws -> JobPlan { try Reading.plan(Reading.example) }

  @Test("JF-18: until keeps a job and everything that it needs")
  func until() throws {
    let plan = try plan().until(["polish[2]"])
    #expect(plan.ids == ["fetch", "align[2]", "polish[2]"])
    #expect(plan.needs("polish[2]") == [["align[2]"]])
    #expect(plan.needs("align[2]") == [["fetch"]])
  }

  @Test("JF-18: until with the name of a group keeps all its jobs")
  func untilGroup() throws {
    let plan = try plan().until(["merge"])
    #expect(plan.ids.last == "merge")
    #expect(plan.jobs.count == 8)
    #expect(plan.needs("merge") == [["polish[1]", "polish[2]", "polish[3]"]])
  }

  @Test("JF-18: only keeps the named jobs and the needs between them")
  func only() throws {
    let plan = try plan().only(["merge", "polish[1]", "polish[3]"])
    #expect(plan.ids == ["polish[1]", "polish[3]", "merge"])
    #expect(plan.needs("polish[1]").isEmpty)
    #expect(plan.needs("merge") == [["polish[1]", "polish[3]"]])
    #expect(try self.plan().only(["align"]).ids == ["align[1]", "align[2]", "align[3]"])
  }

  @Test("JF-18: a selection has the queues and the environment of the file")
  func rest() throws {
    let plan = try plan()
    #expect(try plan.only(["deploy"]).queues == plan.queues)
    #expect(try plan.only(["deploy"]).environment == plan.environment)
  }

  @Test(
    "JF-10, JF-18: an unknown name is refused with the nearest one",
    arguments: [
      ("algin", #"unknown job "algin"; did you mean "align"?"#),
      ("align[4]", #"unknown job "align[4]"; did you mean "align[1]"?"#),
      ("zzz\u{1b}", #"unknown job "zzz\x1b""#),
    ])
  func unknown(name: String, message: String) throws {
    let plan = try plan()
    for select in [plan.only, plan.until] {
      let error = #expect(throws: UnknownJobError.self) { try select(["fetch", name]) }
      #expect(error?.description == message)
    }
  }
}
