// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Workloads

extension Contender {
  /// Whose operations this module's shared source works with.
  static var here: Contender { .foundation }
}
