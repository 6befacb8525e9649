// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A part of the output file of a job.
package struct SlurmOutputPart: Hashable, Sendable {
  /// An output file.
  package enum File: Hashable, Sendable {
    /// The file of a job whose path is not known. The value is ``WatchedSlurmJob/commandID``.
    case ofJob(String)
    /// The file with a path.
    case path(String)
  }

  /// The maximum number of bytes of a part.
  package static let longest: Int64 = 65_536

  /// The path of the file; empty if Slurm does not know the job, or if the job has no output file.
  package let path: String
  /// The number of bytes before this part. It is less than requested if the file has become smaller, and more if the
  /// part would be longer than ``longest``.
  package let position: Int64
  /// The bytes up to the end of the file; `nil` if the file does not exist, cannot be read, or is not a regular file.
  package let bytes: [UInt8]?

  /// Creates a part.
  package init(path: String, position: Int64, bytes: [UInt8]?) {
    self.path = path
    self.position = position
    self.bytes = bytes
  }
}
