// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Workloads

extension Contender {
  /// The contender whose operations the shared source of this module uses.
  static var here: Contender { .foundation }
}
