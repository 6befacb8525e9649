// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// The plan of the work that arrives at a help desk. The work exceeds the capacity of the desk. The plan
/// depends only on the seed.
struct DeskPlan: Equatable, Sendable {
  /// The queue of the help desk. It has a slot for each of the two people who work at the desk.
  static let queue = WorkloadQueue(name: "desk", width: 2)

  /// The kinds of work, the most urgent first.
  enum Kind: CaseIterable, Hashable, Sendable {
    case alarm
    case call
    case mail
    case filing
    case archive

    var priority: Operation.QueuePriority {
      switch self {
      case .alarm: .veryHigh
      case .call: .high
      case .mail: .normal
      case .filing: .low
      case .archive: .veryLow
      }
    }

    /// The beginning of the names of this kind of work. A number follows it.
    var words: String {
      switch self {
      case .alarm: "answer alarm"
      case .call: "take call"
      case .mail: "reply to mail"
      case .filing: "file letter"
      case .archive: "sort archive box"
      }
    }

    /// The amount of this kind of work in percent of the desk's capacity. The sum of all kinds is 130.
    /// Therefore work of the last kind never starts, and work of the kind before it rarely starts.
    var load: Int {
      switch self {
      case .alarm: 10
      case .call: 25
      case .mail: 50
      case .filing: 25
      case .archive: 20
      }
    }
  }

  /// A piece of work that arrives at the help desk of the demo.
  struct Arrival: Equatable, Sendable {
    let kind: Kind
    /// The number of this piece of work. Each kind of work has its own numbers, beginning with 1.
    let number: Int
    /// How long the piece of work takes at normal speed.
    let duration: Duration
  }

  private static let milliseconds = 300...900
  private static let totalLoad = Kind.allCases.reduce(0) { $0 + $1.load }

  private var generator: SeededGenerator
  private var counts: [Kind: Int] = [:]

  /// Creates a plan that has not returned any work.
  init(seed: UInt64) { generator = SeededGenerator(seed: seed, stream: 0) }

  /// Returns the next piece of work, of any kind.
  mutating func next() -> Arrival {
    var share = generator.index(below: Self.totalLoad)
    for kind in Kind.allCases {
      share -= kind.load
      if share < 0 { return next(kind) }
    }
    preconditionFailure("the loads of all kinds of work do not add up to the total load")
  }

  /// Returns the next piece of work of a kind.
  mutating func next(_ kind: Kind) -> Arrival {
    counts[kind, default: 0] += 1
    return Arrival(kind: kind, number: counts[kind, default: 0], duration: duration())
  }

  /// Returns how long a piece of work takes at normal speed.
  mutating func duration() -> Duration { generator.duration(milliseconds: Self.milliseconds) }

  /// Returns the time until the next piece of work arrives, at normal speed.
  mutating func gap() -> Duration {
    // The mean time between arrivals makes the amount of arriving work equal to the desk's capacity times the
    // load.
    let middle = (Self.milliseconds.lowerBound + Self.milliseconds.upperBound) / 2
    let mean = middle * 100 / (Self.queue.width * Self.totalLoad)
    return generator.duration(milliseconds: mean / 2...mean * 3 / 2)
  }
}
