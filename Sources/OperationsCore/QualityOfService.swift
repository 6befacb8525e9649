// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// How important work is to the user. Advisory on Linux: it is stored and reported and never
/// changes the order in which a queue starts its operations.
///
/// The raw values are those of Foundation on Apple platforms; on Linux it has others.
public enum QualityOfService: Int, Sendable, CaseIterable {
  /// Work that the user waits for at this moment.
  case userInteractive = 0x21
  /// Work that the user asked for.
  case userInitiated = 0x19
  /// Work that the user knows of.
  case utility = 0x11
  /// Work that the user does not see.
  case background = 0x09
  /// No statement; the default.
  case `default` = -1
}
