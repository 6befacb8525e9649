// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser

/// The value of `--color`: when the dashboard has colours, where the terminal has any.
enum ColorChoice: String, ExpressibleByArgument, CaseIterable {
  /// Unless `NO_COLOR` is set to something.
  case auto
  /// Whatever `NO_COLOR` says.
  case always
  /// Not at all.
  case never
}
