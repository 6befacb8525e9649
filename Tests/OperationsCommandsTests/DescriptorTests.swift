// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCommands

import Operations
import TestSupport
import Testing

@Suite("The file descriptors of commands", .timeLimit(.minutes(5)), .onOwnThread)
struct DescriptorTests {
  @Test("CM-18, CM-20: 300 commands at once run under a limit of 256 descriptors, with few threads")
  func manyCommandsWait() async throws {
    let result = try await run(Command(BuiltFolder.path(of: "fixture-commands"), ["many", "300"]))
    let lines = result.text.split(separator: "\n")
    #expect(lines.first == "300 succeeded")
    let threads = try #require(lines.last?.split(separator: " ").first.flatMap { Int($0) })
    #expect(threads < 60)
  }

  @Test("CM-18: A command without free descriptors fails alone")
  func shortageIsError() async throws {
    let result = try await run(Command(BuiltFolder.path(of: "fixture-commands"), ["shortage"]))
    #expect(
      result.text == "“true” cannot be started: no file descriptors are free\nsucceeded\n")
  }

  @Test(
    "CM-12, CM-18: A command that waits for descriptors starts after another one has ended, or is cancelled"
  )
  func waitCanBeCancelled() async throws {
    let result = try await run(Command(BuiltFolder.path(of: "fixture-commands"), ["waiting"]))
    #expect(result.text == "cancelled: true\nwaits: true\nsucceeded\n")
  }

  @Test("CM-19: 1,000 commands leave no descriptor open")
  func descriptorsAreClosed() async throws {
    let result = try await run(Command(BuiltFolder.path(of: "fixture-commands"), ["leak", "1000"]))
    #expect(result.text == "900 succeeded\n0 descriptors more\n")
  }

  @Test("RD-2: 300 shims at once run under a limit of 256 descriptors, and leave none open")
  func manyShimsWait() async throws {
    let directory = try TemporaryDirectory()
    let result = try await run(
      Command(BuiltFolder.path(of: "fixture-commands"), ["shims", "300", directory.file("job")]))
    #expect(result.text == "300 succeeded\n0 descriptors more\n")
  }

  @Test("RD-2: The exit status of a shim is read when a descriptor is free")
  func endIsReadLater() async throws {
    let directory = try TemporaryDirectory()
    let result = try await run(
      Command(BuiltFolder.path(of: "fixture-commands"), ["ending", directory.file("job")]))
    #expect(result.text == "waits: true\nexit status 7\n")
  }

  @Test("RD-2: Cancelling ends the command of a shim while no descriptor is free")
  func cancellationNeedsNoDescriptor() async throws {
    let directory = try TemporaryDirectory()
    let result = try await run(
      Command(BuiltFolder.path(of: "fixture-commands"), ["cancelling", directory.file("job")]))
    #expect(result.text == "asked: true\ncancelled: true\n")
  }

  @Test("CM-18: A start needs free descriptors for all commands that are starting")
  func budgetCountsStarts() {
    var budget = DescriptorBudget()
    let limit = DescriptorBudget.reserve + 2 * DescriptorBudget.countPerStart
    #expect(budget.request(open: 1, limit: limit) == .start)
    #expect(budget.request(open: 1, limit: limit) == .wait)
    budget.noteStarted()
    #expect(budget.request(open: 4, limit: limit) == .start)
    budget.noteEnded(wasStarted: false)
    budget.noteEnded(wasStarted: true)
    #expect(budget.startingCount == 0 && budget.runningCount == 0)
  }

  @Test("CM-18: A start is refused if the end of no command frees a descriptor")
  func budgetRefuses() {
    var budget = DescriptorBudget()
    #expect(budget.request(open: 20, limit: 40) == .refuse)
    #expect(budget.request(open: -1, limit: 40) == .start)
    #expect(budget.request(open: 20, limit: 40) == .wait)
  }
}
