// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The error that Slurm's commands cannot be called.
package struct SlurmAccessError: Error, Hashable, CustomStringConvertible {
  /// The error as one sentence without a full stop. The text is unsanitised.
  package let description: String

  /// Creates an error with a sentence.
  package init(description: String) { self.description = description }
}

extension SlurmCluster {
  /// Checks that Slurm's commands can be called, and finds a directory.
  ///
  /// - Parameters:
  ///   - directory: The path of the directory. A relative path begins in the home directory of the user.
  ///   - commandPrefix: The words before each command; see ``commandPrefix``.
  /// - Returns: The absolute path of the directory, without symbolic links.
  /// - Throws: ``SlurmAccessError`` if a command is missing, if the directory cannot be entered, or if the command
  ///   prefix fails.
  package static func find(
    _ directory: String, commandPrefix: [String]
  ) async throws(SlurmAccessError) -> String {
    let marker = SlurmCalls.marker()
    let words = commandPrefix.joined(separator: " ")
    let place = words.isEmpty ? "" : " through “\(words)”"
    do throws(SlurmCallFailure) {
      let output = try await SlurmCalls(prefix: commandPrefix)
        .run(SlurmScript.find(directory, marker: marker))
      switch SlurmAnswer.find(output, marker: marker) {
      case .success(let path): return path
      case .failure(let failure): throw failure
      }
    } catch {
      throw SlurmAccessError(description: "Slurm cannot be used\(place): \(error.reason)")
    }
  }
}

extension SlurmScript {
  /// Returns the text that looks for Slurm's commands and for a directory. It prints a line with the marker, and then a
  /// line with the path of the directory, with the name of a missing command after `missing`, or with `directory`.
  static func find(_ directory: String, marker: String) -> String {
    """
    echo \(marker)
    for opq_name in sbatch squeue scancel scontrol; do
      command -v "$opq_name" >/dev/null || { echo "missing $opq_name"; exit 0; }
    done
    # If this variable is set, cd searches a relative path in other directories.
    unset CDPATH
    cd && cd -- \(quoted(directory)) 2>/dev/null && pwd -P || echo directory

    """
  }
}

extension SlurmAnswer {
  /// Reads the output of ``SlurmScript/find(_:marker:)``.
  static func find(_ output: [UInt8], marker: String) -> Result<String, SlurmCallFailure> {
    let lines = lines(of: output)
    guard let begin = lines.firstIndex(of: marker), begin + 1 < lines.count else {
      return .failure(SlurmCallFailure(reason: "no answer"))
    }
    let line = lines[begin + 1]
    if line.hasPrefix("/") { return .success(line) }
    if line == "directory" {
      return .failure(
        SlurmCallFailure(reason: "the directory does not exist, or cannot be entered"))
    }
    let name = line.split(separator: " ").last ?? "sbatch"
    return .failure(SlurmCallFailure(reason: "the command \(name) was not found"))
  }
}
