// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The classes whose operations have nothing in common: programs use them for everything.
package enum SharedClass {
  /// Whether a class, by its name without the module, is one of them: how long its operations ran says
  /// nothing of how long another one will.
  package static func contains(_ name: String) -> Bool {
    name == "Operation" || name == "BlockOperation" || name.hasPrefix("InvocationOperation<")
  }
}
