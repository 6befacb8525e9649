// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// The plan of one operation of a pyramid: its work, and everything that a monitor shows of it.
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
  /// The positions, within the plan, of the dependencies. All are lower than the operation's own position, so
  /// that a plan has no cycle.
  let dependencies: [Int]
  /// How long the operation takes at speed 1.
  let duration: Duration

  /// The queue of the operation.
  var lane: Lane {
    switch work {
    case .compute, .merge, .calibrate: .cpu
    case .write: .io
    case .upload: .net
    case .index, .publish: .index
    }
  }

  /// Operations nearer to the finished picture have a higher priority, so that pyramids end one after the
  /// other.
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

  /// The importance of the operation for a user who waits for the picture.
  var qualityOfService: QualityOfService {
    switch work {
    case .index, .publish, .calibrate: .userInitiated
    case .compute, .merge, .write: .utility
    case .upload: .background
    }
  }
}
