// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCommands

import Operations
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("The processes of a command of a shim", .timeLimit(.minutes(5)), .onOwnThread)
struct ShimGroupTests {
  private let scene: ShimScene

  init() throws { scene = try ShimScene() }

  private func group(shim: Int32, hasEnded: Bool = false) -> ShimGroup {
    let group = ShimGroup(shim: shim, files: scene.files(), events: CommandEvents())
    if hasEnded { group.events.note(.end) }
    return group
  }

  @Test("RD-2: A shim is not killed if it cannot be read who its command is")
  func unreadableFile() async throws {
    let (operation, sleeper) = try await scene.sleeper()
    // A directory cannot be read.
    #expect(mkdir(scene.files().shim, 0o700) == 0)
    let group = group(shim: sleeper.id)
    await group.terminate(before: .now)
    group.kill()
    #expect(sleeper.presence == .alive)
    // The command may be alive, so the error of a cancelled operation says it.
    #expect(!group.isEmpty)
    group.events.note(.end)
    #expect(!group.isEmpty)
    operation.cancel()
    await operation.waitUntilFinished()
  }

  @Test("RD-2: The first process of a command that was found once is known without the file")
  func foundLeaderIsKept() async throws {
    let (operation, sleeper) = try await scene.sleeper()
    let shim = try scene.ownIdentity()
    let line = contents(of: "/proc/\(sleeper.id)/stat").split(separator: " ").enumerated()
      .map { $0 == 3 ? "\(shim.id)" : String($1) }.joined(separator: " ")
    write(scene.line() + line, to: scene.files().shim)
    let group = group(shim: shim.id, hasEnded: true)
    group.look()
    #expect(unlink(scene.files().shim) == 0 && mkdir(scene.files().shim, 0o700) == 0)
    #expect(group.hasStarted && group.isLeaderLeftAlone && !group.isEmpty)
    group.kill()
    await operation.waitUntilFinished()
    #expect(operation.error is CommandError && group.isEmpty)
  }

  @Test("RD-2: A group is not ended if another process has got its id")
  func replacedLeader() async throws {
    let (operation, sleeper) = try await scene.sleeper()
    let shim = try scene.ownIdentity()
    let line = contents(of: "/proc/\(sleeper.id)/stat").split(separator: " ").enumerated()
      .map { $0 == 3 ? "\(shim.id)" : $0 == 21 ? "1" : String($1) }.joined(separator: " ")
    write(scene.line() + line, to: scene.files().shim)
    let group = group(shim: shim.id, hasEnded: true)
    #expect(group.hasStarted && group.isEmpty && !group.isLeaderLeftAlone)
    await group.terminate(before: .now)
    group.kill()
    let orphan = OrphanGroup(
      leader: ProcessIdentity(id: sleeper.id, startTime: 1), events: CommandEvents())
    #expect(orphan.isEmpty)
    await orphan.terminate(before: .now)
    orphan.kill()
    #expect(sleeper.presence == .alive)
    operation.cancel()
    await operation.waitUntilFinished()
  }
}
