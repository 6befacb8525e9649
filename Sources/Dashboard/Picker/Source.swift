// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A source of updates that the dashboard can watch.
public enum Source: Sendable, Equatable {
  /// Another process. The process continues when the dashboard stops watching it.
  case process(ProcessChoice.ID)
  /// Several other processes that are watched together. They continue when the dashboard stops watching them.
  case processes([ProcessChoice.ID])
  /// The bundled demo. It runs in this process. It ends when the dashboard quits or watches another source.
  case demo
  /// A recording of another process, in the file with this path.
  case recording(String)
}

/// A process that the user may choose to watch.
public struct ProcessChoice: Sendable, Equatable, Identifiable {
  /// An id that distinguishes the process from all others, such as the path of its socket. It is never shown.
  public let id: String
  /// The process id that the process itself uses. If the process runs in a container, it may have another id
  /// outside of the container.
  public var processID: Int32
  /// The name of the program, unsanitised. It may contain any text, and may be empty.
  public var programName: String
  /// The time since the process started; `nil` if it is unknown.
  public var uptime: Duration?
  /// The number of operations that were ever added to the process's queues; `nil` if the process has not
  /// reported it.
  public var totalCount: Int?
  /// Whether the process refuses commands; `nil` if the process has not reported it.
  public var isReadOnly: Bool?
  /// The protocol version of the process, such as `1.0`; empty if the process has not reported it.
  public var versions: String
  /// The reason why the process cannot be watched, in a few words such as `another user's`; `nil` if it can
  /// be watched.
  public var refusal: String?

  /// Creates an entry for the picker. By default, the values are unknown and the process can be watched.
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
