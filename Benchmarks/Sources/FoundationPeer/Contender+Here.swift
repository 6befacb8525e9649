// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Workloads

extension Contender {
  /// The library whose operations this module measures.
  static var here: Contender { .foundation }
}
