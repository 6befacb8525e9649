// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// How many cells of a bar stand for slots that are taken.
struct SlotBar: Sendable, Equatable {
  /// Cells for slots that are taken.
  let taken: Int
  /// Cells for those that are free.
  let free: Int

  /// A queue that runs anything has a cell taken, and only a full one has them all.
  init(running: Int, width: Int, cells: Int) {
    let share = width == 0 ? 0 : running * cells / width
    taken = min(cells, running > 0 ? max(1, share) : 0)
    free = max(0, cells - taken)
  }
}
