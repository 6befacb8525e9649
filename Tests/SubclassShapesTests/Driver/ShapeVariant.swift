// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The settings of a run: the width of the queue, and whether operations are cancelled and
/// observed.
struct ShapeVariant: Sendable, CustomStringConvertible {
  /// The tested widths of the queue; −1 is the default width.
  static let widths = [1, 4, -1]

  let width: Int

  /// Whether some of the operations are cancelled, at different moments.
  let isCancelled: Bool

  /// Whether every operation has observers of its four flags. Foundation's operations on Linux
  /// cannot be observed.
  let isObserved: Bool

  /// Every combination of the settings of a run.
  static let all = widths.flatMap { width in
    [false, true].flatMap { isCancelled in
      [false, true].map {
        ShapeVariant(width: width, isCancelled: isCancelled, isObserved: $0)
      }
    }
  }

  var description: String {
    "width \(width == -1 ? "default" : "\(width)"), "
      + "\(isCancelled ? "cancelled" : "not cancelled"), "
      + "\(isObserved ? "observed" : "not observed")"
  }
}
