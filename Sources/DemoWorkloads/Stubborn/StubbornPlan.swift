// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Work that heeds its cancellation at once, late, or not at all: a pure function of the seed.
struct StubbornPlan: Equatable, Sendable {
  /// For long calls that cannot be interrupted, or only between their parts.
  static let media = WorkloadQueue(name: "media", width: 4)
  /// For what ends at once.
  static let web = WorkloadQueue(name: "web", width: 2)

  /// An operation, and when the application itself gives up on it.
  struct Item: Equatable, Sendable {
    let task: PlannedTask
    /// How long after its start the application cancels it; `nil` where it never does.
    let patience: Duration?
  }

  private var generator: SeededGenerator
  private var mediaCount = 0
  private var webCount = 0

  /// Plans nothing yet.
  init(seed: UInt64) { generator = SeededGenerator(seed: seed, stream: 0) }

  /// The next operation for one of the two queues.
  mutating func next(for queue: WorkloadQueue, id: PlannedTask.ID) -> Item {
    queue == Self.media ? nextForMedia(id) : nextForWeb(id)
  }

  /// Two deaf ones and a late one in turn. Of three, the application gives up on two.
  private mutating func nextForMedia(_ id: PlannedTask.ID) -> Item {
    mediaCount += 1
    let isPatient = generator.index(below: 3) == 0
    let patience = generator.duration(milliseconds: 800...2_500)
    let isLate = mediaCount % 3 == 2
    let task =
      isLate
      ? PlannedTask(
        id: id, name: "back up volume \(mediaCount)", queue: Self.media.name,
        manner: .late(parts: 3), duration: generator.duration(milliseconds: 6_000...12_000))
      : PlannedTask(
        id: id, name: "transcode film \(mediaCount)", queue: Self.media.name, manner: .deaf,
        duration: patience + generator.duration(milliseconds: 5_000...20_000))
    // The very first one shows what the demo is about.
    return Item(task: task, patience: isPatient && mediaCount > 1 ? nil : patience)
  }

  private mutating func nextForWeb(_ id: PlannedTask.ID) -> Item {
    webCount += 1
    let isPatient = generator.index(below: 2) == 0
    let patience = generator.duration(milliseconds: 500...1_500)
    let task = PlannedTask(
      id: id, name: "download page \(webCount)", queue: Self.web.name, manner: .prompt,
      duration: generator.duration(milliseconds: 2_000...6_000))
    return Item(task: task, patience: isPatient ? nil : patience)
  }
}
