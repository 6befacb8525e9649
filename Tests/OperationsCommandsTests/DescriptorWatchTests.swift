// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCommands

import COperationsSystem
import Dispatch
import TestSupport
import Testing

@Suite("Waits for file descriptors", .timeLimit(.minutes(5)))
struct DescriptorWatchTests {
  /// Both ends of a pipe, which are open.
  private struct Pipe {
    private(set) var readEnd: Int32 = -1
    private(set) var writeEnd: Int32 = -1

    init() throws { try #require(csystem_open_pipe(&readEnd, &writeEnd) == 0) }

    func write() { _ = csystem_write(writeEnd, [0], 1) }

    /// Reads at most one byte, and returns the result of `csystem_read_pipe`.
    func read() -> Int {
      var byte: UInt8 = 0
      return csystem_read_pipe(readEnd, &byte, 1)
    }

    func close() {
      csystem_close(readEnd)
      csystem_close(writeEnd)
    }
  }

  // MARK: Many waits

  private enum Use: CaseIterable {
    case writing
    case closing
    case ending
    case process
  }

  /// Waits once while another thread writes to the pipe, closes it or ends the wait.
  ///
  /// - Returns: Whether the wait has ended with the expected result.
  private static func wait(during use: Use, _ others: DispatchQueue) async throws -> Bool {
    if use == .process {
      let descriptor = csystem_open_process(csystem_process_id())
      try #require(descriptor >= 0)
      let watch = DescriptorWatch(descriptor)
      others.async { watch.end() }
      await watch.wait()
      csystem_close(descriptor)
      return watch.hasEnded
    }
    let pipe = try Pipe()
    let watch = DescriptorWatch(pipe.readEnd)
    others.async {
      if use == .writing { pipe.write() }
      if use == .ending { watch.end() }
      csystem_close(pipe.writeEnd)
    }
    await watch.wait()
    let count = pipe.read()
    csystem_close(pipe.readEnd)
    return count == (use == .writing ? 1 : 0) || watch.hasEnded
  }

  @Test(
    "CM-20: Many tasks wait for pipes and processes while other waits end and descriptors are reused, seeded"
  )
  func manyWaits() async throws {
    let seed = SeededGenerator.announcedSeed()
    let others = DispatchQueue(label: "others", attributes: .concurrent)
    let wrongCount = try await withThrowingTaskGroup(of: Int.self) { group in
      for task in 0..<8 {
        group.addTask {
          var random = SeededGenerator(seed: seed &+ UInt64(task))
          var wrongCount = 0
          for _ in 0..<Effort.scaled(60_000) {
            // The end of a pipe is the most frequent event of short commands.
            let isEnd = Bool.random(using: &random)
            let use = isEnd ? .closing : Use.allCases.randomElement(using: &random) ?? .closing
            if try await !Self.wait(during: use, others) { wrongCount += 1 }
          }
          return wrongCount
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(wrongCount == 0)
  }

  @Test("CM-20: One thread handles the waits for all commands")
  func oneThread() async throws {
    // The first command starts the thread. When its end is known, the thread has set its name.
    _ = try await run(shell: "true")
    for _ in 1...3 {
      let names = try await run(shell: "cat /proc/$PPID/task/*/comm 2>/dev/null; true").text
      #expect(names.split(separator: "\n").count { $0 == "opq-descriptors" } == 1)
    }
  }

  // MARK: Without the thread

  /// Counts a call, and returns the number of calls.
  private static func note(_ calls: Monitored<Int>) -> Int {
    calls.change {
      $0 += 1
      return $0
    }
  }

  @Test("CM-23: Without the thread, a wait ends when the descriptor is readable")
  func dataEndsUnwatchedWait() async throws {
    let pipe = try Pipe()
    defer { pipe.close() }
    let calls = Monitored(0)
    let watch = DescriptorWatch(pipe.readEnd) {
      if Self.note(calls) == 2 { pipe.write() }
      return nil
    }
    await watch.wait()
    #expect(calls.value == 2 && pipe.read() == 1)
  }

  @Test("CM-23: Without the thread, a wait can be ended")
  func unwatchedWaitCanBeEnded() async throws {
    let pipe = try Pipe()
    defer { pipe.close() }
    let isWaiting = Monitored(false)
    let watch = DescriptorWatch(pipe.readEnd) {
      isWaiting.change { $0 = true }
      return nil
    }
    startThread {
      isWaiting.wait(for: "the wait") { $0 }
      watch.end()
    }
    await watch.wait()
    #expect(watch.hasEnded && pipe.read() == -1)
  }

  @Test("CM-23: A wait uses the thread as soon as it exists")
  func threadIsFoundLater() async throws {
    let pipe = try Pipe()
    defer { pipe.close() }
    let calls = Monitored(0)
    let waits = try #require(DescriptorWaits.current)
    let watch = DescriptorWatch(pipe.readEnd) {
      if Self.note(calls) < 3 { return nil }
      pipe.write()
      return waits
    }
    await watch.wait()
    #expect(calls.value == 3 && pipe.read() == 1)
  }

  @Test("CM-23: Two waits for one descriptor end when it is readable")
  func twoWaitsEnd() async throws {
    let pipe = try Pipe()
    defer { pipe.close() }
    let calls = Monitored(0)
    let waits = try #require(DescriptorWaits.current)
    let find: @Sendable () -> DescriptorWaits? = {
      // The third call means that the system has refused the second watch.
      if Self.note(calls) == 3 { pipe.write() }
      return waits
    }
    async let first: Void = DescriptorWatch(pipe.readEnd, findWaits: find).wait()
    async let second: Void = DescriptorWatch(pipe.readEnd, findWaits: find).wait()
    _ = await (first, second)
    #expect(calls.value >= 3)
  }

  @Test("CM-23: A regular file, and a descriptor that is not open, end a wait at once")
  func unwatchableDescriptorsEndWait() async throws {
    let directory = try TemporaryDirectory()
    write("", to: directory.file("file"))
    let file = csystem_open_input(directory.file("file"))
    try #require(file >= 0)
    await DescriptorWatch(file).wait()
    csystem_close(file)
    await DescriptorWatch(Int32.max).wait()
  }

  @Test("CM-23: If the thread cannot be started, no descriptor stays open")
  func threadIsRefused() throws {
    let before = csystem_open_descriptor_count()
    for _ in 0..<1_000 { #expect(DescriptorWaits(startThread: { _, _ in 11 }) == nil) }
    // Other tests also open descriptors.
    #expect(csystem_open_descriptor_count() < before + 500)
  }
}
