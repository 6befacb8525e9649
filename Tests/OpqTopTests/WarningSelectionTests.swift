// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import MonitorProtocol
import Testing

@testable import OpqTop

@Suite(.timeLimit(.minutes(10))) struct WarningSelectionTests {
  private typealias Kind = MonitorWarning.Kind

  private func kinds(_ arguments: String) throws -> Set<MonitorWarning.Kind> {
    try DemoCommand.parse(arguments.split(separator: " ").map(String.init)).view.warningKinds
  }

  @Test func theDefaultIsTheUsualKinds() throws {
    #expect(try kinds("") == Kind.usual)
  }

  @Test func allowDisablesAKindAndWarnEnablesIt() throws {
    #expect(try kinds("--allow cycle") == Kind.usual.subtracting([.cycle]))
    #expect(try kinds("--allow=cycle,fan-out") == Kind.usual.subtracting([.cycle, .fanOut]))
    #expect(try kinds("--allow all") == [])
    #expect(try kinds("--warn all") == Set(Kind.allCases))
    #expect(try kinds("--warn leaking") == Kind.usual.union([.leaking]))
    #expect(!Kind.usual.contains(.leaking))
  }

  @Test(
    "The last option about a kind applies",
    arguments: [
      ("--allow cycle --warn cycle", true), ("--warn cycle --allow cycle", false),
      ("--allow cycle --warn all --allow fan-out", true),
      ("--warn cycle --allow fan-out --allow all --warn fan-out", false),
      ("--allow all --allow all --warn fan-out,cycle", true),
    ])
  func theLastCounts(arguments: String, warnsOfCycles: Bool) throws {
    #expect(try kinds(arguments).contains(.cycle) == warnsOfCycles)
  }
}
