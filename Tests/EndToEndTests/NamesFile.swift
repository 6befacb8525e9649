// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport

/// A file of names for `fixture-hostile-names`, the dashboard over a process that is made up. It goes
/// away with this object.
final class NamesFile {
  /// The program that takes it.
  static let program = BuiltFolder.path(of: "fixture-hostile-names")

  let path: String

  init(_ names: [String]) throws {
    path = NSTemporaryDirectory() + "/opq-names-\(UUID().uuidString)"
    try JSONEncoder().encode(names).write(to: URL(fileURLWithPath: path))
  }

  deinit { unlink(path) }
}
