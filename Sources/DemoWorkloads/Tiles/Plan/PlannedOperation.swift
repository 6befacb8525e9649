// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// The plan of one operation that renders or uploads a tile pyramid. The plan contains the work of the
/// operation and all properties that a monitor shows.
struct PlannedOperation: Equatable, Sendable {
  /// The work of the operation.
  enum Work: Hashable, Sendable {
    case compute(TileCoordinate)
    case merge(TileCoordinate)
    case calibrate
    case write(ImageName)
    case upload(ImageName)
    case index
    case publish
  }

  let work: Work
  let name: String
  /// The positions of the operation's dependencies in the plan. They are lower than the operation's own
  /// position, so that a plan contains no cycle.
  let dependencies: [Int]
  /// How long the operation takes at normal speed.
  let duration: Duration
  /// Whether the operation fails at its first attempt and is retried. This is true for about one operation in a
  /// hundred, and only for operations that write images.
  var isRetried = false

  /// The queue on which the operation runs.
  var lane: Lane {
    switch work {
    case .compute, .merge, .calibrate: .cpu
    case .write: .io
    case .upload: .net
    case .index, .publish: .index
    }
  }

  /// The priority of the operation. Operations whose results are nearer to the finished picture have a higher
  /// priority, so that tile pyramids are completed one after the other.
  var priority: Operation.QueuePriority {
    switch work {
    case .index: .veryHigh
    case .merge, .calibrate, .publish, .write(.picture): .high
    case .compute: .normal
    case .write(.tile(let tile)): tile.level < 2 ? .high : .normal
    case .upload(.picture): .normal
    case .upload(.tile(let tile)): tile.level < 3 ? .low : .veryLow
    }
  }

  /// The quality of service. It is `userInitiated` for operations that calibrate a picture or list images,
  /// `utility` for operations that compute, merge or write images, and `background` for uploads.
  var qualityOfService: QualityOfService {
    switch work {
    case .index, .publish, .calibrate: .userInitiated
    case .compute, .merge, .write: .utility
    case .upload: .background
    }
  }
}
