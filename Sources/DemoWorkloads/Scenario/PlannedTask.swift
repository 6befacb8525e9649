// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// One operation of a scenario before it exists: what it does, and everything a monitor shows of it.
struct PlannedTask: Equatable, Sendable {
  /// Tells apart the tasks of one run.
  struct ID: Hashable, Comparable, Sendable {
    let rawValue: Int

    static func < (left: ID, right: ID) -> Bool { left.rawValue < right.rawValue }
  }

  /// What a running operation does about its cancellation.
  enum Manner: Equatable, Sendable {
    /// It ends at once.
    case prompt
    /// It ends at the end of the part that it is at; there are so many parts of equal length.
    case late(parts: Int)
    /// Nothing.
    case deaf
  }

  let id: ID
  let name: String
  /// The queue that it is added to; `nil` for one that is only made.
  let queue: String?
  var priority = Operation.QueuePriority.normal
  /// Tasks of the same batch that it depends on, whether they stand ahead of it or behind it.
  var dependencies: [ID] = []
  /// A task of the same batch that its work begins with waiting for, by `waitUntilFinished()`. That
  /// one waits for none in this way.
  var awaited: ID?
  var manner = Manner.prompt
  /// How long it works at speed 1, what it waits for not included.
  let duration: Duration
}
