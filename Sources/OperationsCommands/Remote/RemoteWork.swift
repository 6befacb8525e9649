// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Work that another process of the same executable can run.
///
/// ```swift
/// struct Thumbnail: RemoteWork {
///   let path: String
///   let width: Int
///
///   func run() async throws -> [UInt8] {
///     let image = try decodeImage(at: path)
///     Operation.current?.reportStatus("scaling")
///     return image.scaled(to: width).encoded
///   }
/// }
/// ```
///
/// A program passes its types of work to ``serveRemoteWork(_:)``, and runs a value with a ``RemoteOperation``. The
/// value and its output pass through files, so the value must contain everything that the work needs. Objects, open
/// files and global variables of this process do not exist in the other process.
///
/// The types of work of a program must have different names. The name of a type includes its module and the types that
/// contain it. It does not include the file of a private type, or the function that contains the type.
public protocol RemoteWork: Codable, Sendable {
  /// The type of the work's output.
  associatedtype Output: Codable & Sendable

  /// Does the work.
  ///
  /// Called once, in the other process, by an asynchronous operation in a queue. The current operation
  /// (`Operation.current`) reports progress, a status and log lines, which the ``RemoteOperation`` then has too. The
  /// work may block its thread. If the ``RemoteOperation`` is cancelled, the task of the work is cancelled.
  ///
  /// - Returns: The output.
  /// - Throws: The error of the work. The operation fails with a ``RemoteError`` that has the name of the error's type
  ///   and its description.
  func run() async throws -> Output
}
