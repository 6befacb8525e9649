// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCommands
import TestSupport
import Testing

@testable import OpqTop

@Suite("Jobs of Slurm as operations") struct SlurmPictureTests {
  private typealias Rows = SlurmRows

  private func id(_ number: Int) -> OperationReport.ID { OperationReport.ID(UInt64(number)) }

  private func report(_ row: WatchedSlurmJob, showsUsers: Bool = false) throws -> OperationReport {
    var picture = Rows.picture(showsUsers: showsUsers)
    return try #require(picture.take([row], at: Rows.time(100)).changed.first)
  }

  // MARK: States

  @Test(
    "SV-2: Each state of Slurm is a state of an operation",
    arguments: [
      ("PENDING", "None", OperationState.ready), ("PENDING", "JobHeldUser", .held),
      ("PENDING", "JobHeldAdmin", .held),
      ("PENDING", "JobArrayTaskLimit,JobHeldUser", .held), ("PENDING", "JobHoldMaxRequeue", .held),
      ("REQUEUE_HOLD", "None", .held), ("SPECIAL_EXIT", "None", .held),
      ("RUNNING", "None", .executing),
      ("COMPLETING", "None", .executing), ("SUSPENDED", "None", .executing),
      ("CONFIGURING", "None", .executing), ("A_NEW_STATE", "None", .executing),
      ("COMPLETED", "None", .finished), ("FAILED", "NonZeroExitCode", .failed),
      ("TIMEOUT", "TimeLimit", .failed), ("NODE_FAIL", "None", .failed),
      ("OUT_OF_MEMORY", "None", .failed), ("CANCELLED", "None", .cancelled),
    ])
  func states(state: String, reason: String, expected: OperationState) throws {
    let report = try report(Rows.row(1, state, reason))
    #expect(report.state == expected)
    #expect((report.errorText != nil) == (expected == .failed))
    #expect((report.statusText == nil) == expected.isOver)
  }

  @Test(
    "SV-2: A pending job with the priority 0 is held, also one with dependencies",
    arguments: [
      ("0", "launch failed requeued held", "(null)", OperationState.held),
      ("0", "Dependency", "afterok:1(unfulfilled)", .held),
      ("42", "JobHeldUser", "afterok:1(unfulfilled)", .held),
      ("42", "Dependency", "afterok:1(unfulfilled)", .waiting), ("", "None", "(null)", .ready),
    ])
  func held(
    priority: String, reason: String, dependency: String, expected: OperationState
  ) throws {
    let report = try report(
      Rows.row(2, "PENDING", reason, dependency: dependency, priority: priority))
    #expect(report.state == expected)
    #expect(report.unmetDependencyCount == (expected == .waiting ? 1 : 0))
    let running = try self.report(Rows.row(2, "RUNNING", priority: priority))
    #expect(running.state == .executing)
  }

  @Test("SV-2: Times of Slurm are converted to the clock of the viewer")
  func times() throws {
    let report = try report(
      Rows.row(1, "COMPLETED", times: (start: 5, end: 65), nodes: "n1"))
    #expect(report.added == Rows.time(0) && report.becameReady == Rows.time(0))
    #expect(report.started == Rows.time(5) && report.finished == Rows.time(65))
  }

  @Test("SV-2: The expected times of a job are not times of the operation")
  func expectedTimes() throws {
    let pending = try report(Rows.row(1, "PENDING", "Priority", times: (start: 500, end: nil)))
    #expect(pending.started == nil && pending.finished == nil)
    let running = try report(Rows.row(1, "RUNNING", times: (start: 5, end: 9_000), nodes: "n1"))
    #expect(running.started == Rows.time(5) && running.finished == nil)
    #expect(running.statusText == "running on n1")
    let cancelled = try report(Rows.row(1, "CANCELLED", times: (start: 7, end: 7)))
    #expect(cancelled.started == nil && cancelled.finished == Rows.time(7))
  }

  @Test("SV-2: A time that the clock of the viewer cannot show is the latest time")
  func latestTime() throws {
    let farAway = (1 << 40) - Rows.submitted
    let report = try report(
      Rows.row(1, "COMPLETED", times: (start: 5, end: farAway), nodes: "n1"))
    #expect(report.started == Rows.time(5))
    #expect(report.finished == MonitorTime(nanoseconds: .max))
    #expect(report.finished.map { $0 - Rows.time(5) } == .nanoseconds(Int64.max - 5_000_000_000))
  }

  @Test("SV-2: The kind of a job is its user if the jobs of other users are shown")
  func users() throws {
    #expect(try report(Rows.row(1), showsUsers: true).kind == "ann")
    #expect(try report(Rows.row(1)).kind == "job")
  }

  // MARK: Dependencies

  @Test("SV-4: A dependency stays after Slurm has forgotten it")
  func keptDependency() throws {
    var picture = Rows.picture()
    let waiting = Rows.row(2, "PENDING", "Dependency", dependency: "afterok:1(unfulfilled)")
    var update = picture.take([Rows.row(1, "RUNNING"), waiting], at: Rows.time(1))
    var report = try #require(update.changed.last)
    #expect(report.state == .waiting && report.dependencies == [id(1)])
    #expect(report.unmetDependencyCount == 1 && report.becameReady == nil)
    #expect(update.changed.first?.dependentCount == 1)
    update = picture.take([Rows.row(1, "COMPLETED"), Rows.row(2)], at: Rows.time(11))
    report = try #require(update.changed.last)
    #expect(report.state == .ready && report.dependencies == [id(1)])
    #expect(report.unmetDependencyCount == 0 && report.becameReady == Rows.time(11))
  }

  @Test("SV-4: A dependency on a job that is not shown names an unknown operation")
  func unknownDependency() throws {
    let report = try report(
      Rows.row(2, "PENDING", "Dependency", dependency: "afterany:77(unfulfilled)"))
    #expect(report.dependencies == [id(77)] && report.unmetDependencyCount == 1)
  }

  @Test("SV-4: A job that waits for no job, but for another condition of Slurm, is waiting")
  func singleton() throws {
    let report = try report(
      Rows.row(2, "PENDING", "Dependency", dependency: "singleton(unfulfilled)"))
    #expect(report.state == .waiting && report.dependencies.isEmpty)
    #expect(report.statusText == "pending: Dependency; the job waits for other jobs of Slurm")
  }

  @Test("SV-4: A dependency that can never be fulfilled is not met")
  func failedDependency() throws {
    var picture = Rows.picture()
    let row = Rows.row(
      2, "PENDING", "DependencyNeverSatisfied", dependency: "afterok:1(failed)")
    let update = picture.take([Rows.row(1, "FAILED", "NonZeroExitCode"), row], at: Rows.time(1))
    #expect(update.changed.last?.state == .waiting)
    #expect(update.changed.last?.unmetDependencyCount == 1)
  }

  // MARK: Arrays

  @Test("SV-6: Tasks that Slurm has not separated are one operation, which becomes the last task")
  func array() {
    var picture = Rows.picture()
    var update = picture.take([Rows.row(5, array: (5, "1-3%2"), name: "arr")], at: Rows.time(1))
    #expect(update.changed.map(\.name) == ["5_[1-3%2] arr"])
    update = picture.take(
      [
        Rows.row(5, array: (5, "3"), name: "arr"),
        Rows.row(17, array: (5, "1"), "RUNNING", name: "arr"),
        Rows.row(18, array: (5, "2"), "RUNNING", name: "arr"),
      ], at: Rows.time(11))
    #expect(update.changed.map(\.name) == ["5_3 arr", "5_1 arr", "5_2 arr"])
    #expect(update.changed.map(\.id) == [id(5), id(17), id(18)])
    #expect(update.queues.first?.counts.total == 3 && update.removed.isEmpty)
  }

  @Test("SV-6: Cancelled tasks that Slurm shows as a plain job keep their name")
  func cancelledTasks() {
    var picture = Rows.picture()
    _ = picture.take([Rows.row(5, array: (5, "1-3"), name: "arr")], at: Rows.time(1))
    let update = picture.take([Rows.row(5, "CANCELLED", name: "arr")], at: Rows.time(11))
    #expect(update.changed.map(\.name) == ["5_[1-3] arr"])
    #expect(update.changed.map(\.state) == [.cancelled])
  }

  @Test("SV-6: Dependencies on tasks follow the tasks when Slurm separates them")
  func taskDependencies() throws {
    var picture = Rows.picture()
    func rows(_ array: [WatchedSlurmJob]) -> [WatchedSlurmJob] {
      array + [
        Rows.row(30, dependency: "afterok:5_2(unfulfilled)"),
        Rows.row(31, dependency: "afterany:5_*(unfulfilled)"),
        Rows.row(32, array: (32, "2"), dependency: "aftercorr:5_*(unfulfilled)"),
      ]
    }
    var update = picture.take(rows([Rows.row(5, array: (5, "1-3"))]), at: Rows.time(1))
    #expect(update.changed.dropFirst().map(\.dependencies) == [[id(5)], [id(5)], [id(5)]])
    update = picture.take(
      rows([
        Rows.row(5, array: (5, "3")), Rows.row(17, array: (5, "1"), "COMPLETED"),
        Rows.row(18, array: (5, "2"), "RUNNING"),
      ]), at: Rows.time(11))
    let found = Dictionary(uniqueKeysWithValues: update.changed.map { ($0.id, $0) })
    #expect(found[id(30)]?.dependencies == [id(18)])
    #expect(found[id(31)]?.dependencies == [id(5), id(17), id(18)])
    #expect(found[id(31)]?.unmetDependencyCount == 2)
    #expect(found[id(32)]?.dependencies == [id(18)])
  }

  @Test("SV-6: Jobs that depend on one array depend on its tasks, which are sorted by id")
  func manyDependents() {
    let tasks = (1...200).reversed().map { Rows.row(1_000 + $0, array: (1_001, "\($0)")) }
    let ended = Rows.row(1_201, array: (1_001, "201"), "COMPLETED")
    let dependents = (1...100).map { Rows.row($0, dependency: "afterany:1001_*(unfulfilled)") }
    var picture = Rows.picture()
    let update = picture.take(dependents + tasks + [ended], at: Rows.time(1))
    let expected = (1_001...1_201).map { id($0) }
    #expect(update.changed.prefix(100).allSatisfy { $0.dependencies == expected })
    #expect(update.changed.prefix(100).allSatisfy { $0.unmetDependencyCount == 200 })
    #expect(update.changed.suffix(201).allSatisfy { $0.dependentCount == 100 })
  }

  // MARK: Forgotten jobs

  @Test("SV-5: A job that has ended stays after Slurm has forgotten it")
  func forgotten() {
    var picture = Rows.picture()
    _ = picture.take([Rows.row(1, "FAILED", "NonZeroExitCode")], at: Rows.time(1))
    let update = picture.take([], at: Rows.time(11))
    #expect(update.changed.isEmpty && update.removed.isEmpty)
    #expect(update.queues.first?.counts.failed == 1)
  }

  @Test("SV-5: If the end of a job was not shown, it has finished, and its status says so")
  func unknownEnd() throws {
    var picture = Rows.picture()
    _ = picture.take([Rows.row(1, "RUNNING", times: (start: 1, end: nil))], at: Rows.time(2))
    var report = try #require(picture.take([], at: Rows.time(12)).changed.first)
    #expect(report.state == .finished && report.finished == Rows.time(12))
    #expect(report.statusText == SlurmPicture.unknownEnd)
    // Slurm shows the job again.
    report = try #require(picture.take([Rows.row(1, "RUNNING")], at: Rows.time(22)).changed.first)
    #expect(report.state == .executing && report.finished == nil)
  }

  @Test("SV-5: If too many jobs are forgotten, the oldest are removed, and stay in the counts")
  func limit() {
    var picture = Rows.picture(mostForgotten: 2)
    for number in 1...4 {
      _ = picture.take([Rows.row(number, "COMPLETED")], at: Rows.time(10 * number))
    }
    let update = picture.take([], at: Rows.time(50))
    #expect(update.removed == [id(2)])
    #expect(picture.jobs.keys.sorted() == [id(3), id(4)])
    #expect(update.queues.first?.counts == StateCounts(finished: 4, total: 4))
  }

  // MARK: Counts

  @Test("SV-3: A partition is a queue, and a job with several partitions is in the first one")
  func partitions() {
    var picture = Rows.picture()
    let update = picture.take(
      [Rows.row(1, partition: "b,a"), Rows.row(2, partition: "a"), Rows.row(3, partition: "b")],
      at: Rows.time(1))
    #expect(update.queues.map(\.name) == ["b", "a"])
    #expect(update.queues.map(\.counts.ready) == [2, 1])
  }

  @Test("SV-3: Counts of random answers add up, and updates lead to the whole state")
  func randomAnswers() {
    let seed = SeededGenerator.announcedSeed()
    var generator = SeededGenerator(seed: seed)
    let states = [
      "PENDING", "RUNNING", "COMPLETING", "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT",
    ]
    var picture = Rows.picture(mostForgotten: 5)
    var state = ProcessState(linkingDependents: true)
    for step in 1...200 {
      let count = Int.random(in: 0...12, using: &generator)
      let rows = (0..<count).map { _ in
        let number = Int.random(in: 1...30, using: &generator)
        let other = Int.random(in: 1...30, using: &generator)
        let name = states[Int.random(in: 0..<states.count, using: &generator)]
        let depends = name == "PENDING" && Bool.random(using: &generator)
        return Rows.row(
          number, name, dependency: depends ? "afterok:\(other)(unfulfilled)" : "(null)",
          partition: Bool.random(using: &generator) ? "a" : "b")
      }
      let update = picture.take(rows, at: Rows.time(step))
      state.apply(update)
      let whole = picture.whole(at: Rows.time(step))
      #expect(state.whole?.changed == whole.changed, "seed \(seed), step \(step)")
      for queue in update.queues {
        let counts = queue.counts
        let sum =
          counts.waiting + counts.ready + counts.executing + counts.finished + counts.cancelled
        #expect(sum == counts.total, "seed \(seed), step \(step)")
      }
      let unfinished = whole.changed.count { !$0.state.isOver }
      let counts = update.queues.counts
      #expect(
        counts.waiting + counts.ready + counts.executing == unfinished, "seed \(seed), step \(step)"
      )
    }
  }

  // MARK: Reasons

  @Test("SV-7: A pending job has a reason, and other jobs have none")
  func reasons() {
    var picture = Rows.picture()
    _ = picture.take(
      [Rows.row(1, "PENDING", "Licenses"), Rows.row(2, "RUNNING")], at: Rows.time(1))
    #expect(
      picture.reason(of: id(1), at: Rows.time(2))
        == "Slurm says that it is pending: Licenses; Slurm waits until a licence is free")
    #expect(picture.reason(of: id(2), at: Rows.time(2)) == nil)
    #expect(picture.reason(of: id(3), at: Rows.time(2)) == nil)
  }
}
