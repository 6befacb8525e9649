// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension Duration {
  /// The same time in whole nanoseconds, rounded towards zero; up to about 290 years.
  var nanoseconds: Int64 {
    components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
  }
}
