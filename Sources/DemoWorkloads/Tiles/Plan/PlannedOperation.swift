// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// One operation of a pyramid before it exists: what it does, and everything a monitor shows of it.
struct PlannedOperation: Equatable, Sendable {
  /// What the operation does.
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
  /// Positions, within the plan, of the operations that this one waits for; all are lower than its
  /// own position, so that a plan has no cycle.
  let dependencies: [Int]
  /// How long the operation takes at speed 1.
  let duration: Duration

  /// The queue that it runs on.
  var lane: Lane {
    switch work {
    case .compute, .merge, .calibrate: .cpu
    case .write: .io
    case .upload: .net
    case .index, .publish: .index
    }
  }

  /// What is nearer to the finished picture goes first, so that pyramids end one after the other.
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

  /// How much the operation matters to somebody who waits for the picture.
  var qualityOfService: QualityOfService {
    switch work {
    case .index, .publish, .calibrate: .userInitiated
    case .compute, .merge, .write: .utility
    case .upload: .background
    }
  }
}
