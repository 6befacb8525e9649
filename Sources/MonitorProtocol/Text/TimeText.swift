// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Formats durations as text with at most six characters.
package enum TimeText {
  /// Returns a duration as text with about three digits, such as `12ms`, `1.15s`, `12.4s`, `1m40s`,
  /// `3h10m` or `2d04h`.
  ///
  /// The duration is truncated and never rounded up, so that `1m00s` follows `59.9s`. A negative
  /// duration becomes `0ms`.
  package static func duration(_ duration: Duration) -> String {
    let (seconds, attoseconds) = max(.zero, duration).components
    let milliseconds = attoseconds / 1_000_000_000_000_000
    switch seconds {
    case ..<1: return "\(milliseconds)ms"
    case ..<10: return "\(seconds).\(padded(milliseconds / 10))s"
    case ..<60: return "\(seconds).\(milliseconds / 100)s"
    case ..<3_600: return "\(seconds / 60)m\(padded(seconds % 60))s"
    case ..<86_400: return "\(seconds / 3_600)h\(padded(seconds % 3_600 / 60))m"
    case ..<8_640_000: return "\(seconds / 86_400)d\(padded(seconds % 86_400 / 3_600))h"
    default: return "\(seconds / 86_400)d"
    }
  }

  /// Returns a lower bound of a duration in its largest unit, such as `>12s`, `>3m`, `>2h` or `>5d`.
  package static func atLeast(_ duration: Duration) -> String {
    let (seconds, _) = max(.zero, duration).components
    switch seconds {
    case ..<60: return ">\(seconds)s"
    case ..<3_600: return ">\(seconds / 60)m"
    case ..<86_400: return ">\(seconds / 3_600)h"
    default: return ">\(seconds / 86_400)d"
    }
  }

  /// Returns a number with at least two digits.
  package static func padded(_ number: Int64) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }
}
