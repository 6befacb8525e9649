// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A source that can be watched.
public enum Source: Sendable, Equatable {
  /// Another process. It continues when the dashboard leaves it.
  case process(ProcessChoice.ID)
  /// Several other processes, watched together. They continue when the dashboard leaves them.
  case processes([ProcessChoice.ID])
  /// The bundled demo. It runs in this process, and ends when the dashboard quits or opens another
  /// source.
  case demo
  /// A recording of another process, in the file with this path.
  case recording(String)
}

/// A process that was found and that the user may choose to watch.
public struct ProcessChoice: Sendable, Equatable, Identifiable {
  /// Distinguishes it from all others; for example, the path of its socket. It is never shown.
  public let id: String
  /// The id of the process, as its system sees it.
  public var processID: Int32
  /// The program's name, unsanitised. It may contain any text, and may be empty.
  public var programName: String
  /// How long ago it started; `nil` if unknown.
  public var uptime: Duration?
  /// The number of operations that were ever added to its queues; `nil` if it has not reported it.
  public var totalCount: Int?
  /// Whether it refuses commands; `nil` if it has not reported it.
  public var isReadOnly: Bool?
  /// The version of its protocol, such as `1.0`; empty if it has not reported it.
  public var versions: String
  /// The reason why it cannot be watched, in a few words such as `another user's`; `nil` if it can.
  public var refusal: String?

  /// Creates a choice. Omitted values are unknown, and by default the process can be watched.
  public init(
    id: String, processID: Int32, programName: String, uptime: Duration? = nil,
    totalCount: Int? = nil, isReadOnly: Bool? = nil, versions: String = "", refusal: String? = nil
  ) {
    self.id = id
    self.processID = processID
    self.programName = programName
    self.uptime = uptime
    self.totalCount = totalCount
    self.isReadOnly = isReadOnly
    self.versions = versions
    self.refusal = refusal
  }
}
