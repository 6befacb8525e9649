// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The plan of operations that react to their cancellation at once, late, or never. It depends only on the
/// seed.
struct StubbornPlan: Equatable, Sendable {
  /// The queue for operations with long calls that cannot be interrupted, or can be interrupted only between
  /// parts of their work.
  static let media = WorkloadQueue(name: "media", width: 4)
  /// The queue for operations that end at once after their cancellation.
  static let web = WorkloadQueue(name: "web", width: 2)

  /// An operation of the plan, and the time at which the application cancels it.
  struct Item: Equatable, Sendable {
    let task: PlannedTask
    /// The time from the operation's start until the application cancels it; `nil` if the application does
    /// not cancel it.
    let patience: Duration?
  }

  private var generator: SeededGenerator
  private var mediaCount = 0
  private var webCount = 0

  /// Creates a plan that has not returned any operation.
  init(seed: UInt64) { generator = SeededGenerator(seed: seed, stream: 0) }

  /// Returns the next operation for one of the two queues.
  mutating func next(for queue: WorkloadQueue, id: PlannedTask.ID) -> Item {
    queue == Self.media ? nextForMedia(id) : nextForWeb(id)
  }

  /// Returns the next operation for the queue `media`. Of three successive operations, two ignore their
  /// cancellation and one reacts to it late. The application cancels two of three operations.
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
    // The application always cancels the first operation. Therefore the user soon sees what the demo is
    // about: operations that do not end when they are cancelled.
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
