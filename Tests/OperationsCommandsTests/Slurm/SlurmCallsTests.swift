// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import TestSupport
import Testing

@testable import OperationsCommands

@Suite("Calls of Slurm's commands", .timeLimit(.minutes(5)), .onOwnThread)
struct SlurmCallsTests {
  @Test("SV-13: A stop ends calls that ignore SIGTERM, and calls that wait are not made")
  func stop() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("processes")
    let calls = SlurmCalls(prefix: [])
    let text = "trap '' TERM; echo $$ >>'\(path)'; exec sleep 600"
    func processes() -> [Int] {
      contents(of: path).split(separator: "\n").compactMap { Int($0) }
    }
    let results = (0..<6).map { _ in
      Task { () -> SlurmCallFailure? in
        do throws(SlurmCallFailure) {
          _ = try await calls.run(text)
          return nil
        } catch {
          return error
        }
      }
    }
    // If the processes do not start, the time limit of the suite ends this loop.
    while processes().count < 4 { try await Task.sleep(for: .milliseconds(5)) }
    await calls.stop(gracePeriod: .milliseconds(10))
    #expect(processes().allSatisfy { !isAlive($0) })
    let stopped = SlurmCallFailure(reason: "the calls were stopped")
    for result in results { #expect(await result.value == stopped) }
    #expect(processes().count == 4)
    await #expect(throws: stopped) { try await calls.run("echo later >>'\(path)'") }
    #expect(processes().count == 4)
  }

  @Test("SV-13: A stop of the calls that read does not end a change")
  func separateStops() async throws {
    let scene = try SlurmScriptScene()
    let (started, gate) = (scene.directory.file("started"), scene.directory.file("gate"))
    TestProgram.write(
      """
      echo yes >'\(started)'
      until test -e '\(gate)' || ! test -d '\(scene.directory.path)'; do sleep 0.02; done
      """, to: scene.directory.file("bin/scancel"))
    let watch = SlurmWatch(commandPrefix: scene.prefix)
    let change = Task { await watch.change(["7"], .cancel) }
    while contents(of: started).isEmpty { try await Task.sleep(for: .milliseconds(5)) }
    await watch.stopReading()
    await #expect(throws: SlurmAccessError.self) {
      try await watch.jobs(of: .all, asksCluster: false)
    }
    write("", to: gate)
    #expect(await change.value == [.accepted])
    await watch.stopChanging()
    #expect(await watch.change(["7"], .cancel) == [.lost])
  }
}
