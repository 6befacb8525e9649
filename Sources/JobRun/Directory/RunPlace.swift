// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem

/// A directory that contains the directories of runs. It need not exist.
package struct RunPlace: Hashable, Sendable {
  /// The path of the directory, such as `/home/me/project/.opq/runs`. It is absolute, unless the working directory is
  /// unknown.
  package let runs: String
  /// The path of the directory `.opq`, in which the file `.gitignore` excludes everything from Git; `nil` if the user
  /// has chosen another place.
  let ignored: String?

  /// Returns the place beside a job file.
  ///
  /// - Parameter file: The path of the job file; `nil` if the jobs were read from standard input. In that case, the
  ///   place is in the working directory.
  /// - Returns: The directory `.opq/runs` in the directory of the file.
  package static func beside(file: String?) -> RunPlace {
    let slash = file?.utf8.lastIndex(of: UInt8(ascii: "/"))
    let directory =
      if let file, let slash { String(file[..<file.utf8.index(after: slash)]) } else { "" }
    let ignored = absolute(directory + ".opq")
    return RunPlace(runs: ignored + "/runs", ignored: ignored)
  }

  /// Creates the place that the user has chosen with `--state`.
  ///
  /// - Parameter state: The path of the directory that contains the directory `runs`.
  package init(state: String) {
    let directory = Self.absolute(state)
    self.init(runs: directory + (directory.hasSuffix("/") ? "runs" : "/runs"), ignored: nil)
  }

  private init(runs: String, ignored: String?) {
    self.runs = runs
    self.ignored = ignored
  }

  /// Returns the absolute path of a file. Links are not resolved.
  ///
  /// - Parameter path: A path. If it is relative, it begins at the working directory.
  /// - Returns: The absolute path; the same path if the working directory is unknown.
  package static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let directory = cmonitor_working_directory() else { return path }
    defer { cmonitor_free(directory) }
    var beginning = String(cString: directory)
    if !beginning.hasSuffix("/") { beginning += "/" }
    var rest = Substring(path)
    while rest.hasPrefix("./") { rest = rest.dropFirst(2).drop { $0 == "/" } }
    // The working directory can be the root.
    return rest == "." && beginning != "/" ? String(beginning.dropLast()) : beginning + rest
  }

  /// The path of the directory with all links resolved; `nil` if the directory does not exist.
  var resolved: String? {
    guard let path = cmonitor_resolved_path(runs) else { return nil }
    defer { cmonitor_free(path) }
    return String(cString: path)
  }
}
