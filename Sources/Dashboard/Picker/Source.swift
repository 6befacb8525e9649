// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What can be watched.
public enum Source: Sendable, Equatable {
  /// Another process. It goes on when the dashboard leaves it.
  case process(ProcessChoice.ID)
  /// Several other processes as one. They go on when the dashboard leaves them.
  case processes([ProcessChoice.ID])
  /// The bundled demo. It runs in this process, and ends when the dashboard quits or opens another
  /// source.
  case demo
  /// A recording of another process, in the file of this path.
  case recording(String)
}

/// A process that was found and that the user may choose to watch.
public struct ProcessChoice: Sendable, Equatable, Identifiable {
  /// Tells it apart from all others, such as the path of its socket; never shown.
  public let id: String
  /// The id of the process, as its system sees it.
  public var processID: Int32
  /// The program's name, unsanitised: it may hold anything, and may be empty.
  public var programName: String
  /// How long ago it started; `nil` where that is not known.
  public var uptime: Duration?
  /// How many operations were ever added to its queues; `nil` where it has not said so.
  public var totalCount: Int?
  /// Whether it refuses commands; `nil` where it has not said so.
  public var isReadOnly: Bool?
  /// The protocol that it speaks, such as `1.0`; empty where it has not said so.
  public var versions: String
  /// Why it cannot be watched, in a few words such as `another user's`; `nil` where it can.
  public var refusal: String?

  /// Creates a choice; what is not given is not known, and by default it can be watched.
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
