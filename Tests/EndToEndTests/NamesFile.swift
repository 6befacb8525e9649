// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport

/// A file with names for the program `fixture-hostile-names`, which shows the dashboard of an
/// imaginary process. The file is deleted when this value is released.
struct NamesFile {
  /// The path of the program `fixture-hostile-names`, which reads the file.
  static let program = BuiltFolder.path(of: "fixture-hostile-names")

  private let directory: TemporaryDirectory

  var path: String { directory.file("names") }

  init(_ names: [String]) throws {
    directory = try TemporaryDirectory()
    try JSONEncoder().encode(names).write(to: URL(fileURLWithPath: path))
  }
}
