// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension BatchFrame.Operation {
  /// The fields of an operation in a batch frame, which is the state of a process as JSON. The raw
  /// value is the name of the field in JSON and in command-line options.
  public enum Field: String, CodingKey, CaseIterable, Sendable {
    /// The id of the operation; see ``BatchFrame/Operation/id``.
    case id
    /// The state of the operation; see ``BatchFrame/Operation/state``.
    case state
    /// The name of the operation's queue; see ``BatchFrame/Operation/queue``.
    case queue
    /// The name of the operation's class; see ``BatchFrame/Operation/className``.
    case className = "class"
    /// The priority of the operation; see ``BatchFrame/Operation/priority``.
    case priority
    /// The ids of the dependencies of the operation; see ``BatchFrame/Operation/dependencies``.
    case dependencies
    /// The number of unfinished dependencies; see ``BatchFrame/Operation/unmetDependencyCount``.
    case unmetDependencyCount = "unmet"
    /// The time that the dashboard shows for the operation; see ``BatchFrame/Operation/seconds``.
    case seconds
    /// The time in the current state; see ``BatchFrame/Operation/secondsInState``.
    case secondsInState
    /// The name of the operation; see ``BatchFrame/Operation/name``.
    case name
    /// The text of the operation's error; see ``BatchFrame/Operation/error``.
    case error
    /// What cancelled the operation; see ``BatchFrame/Operation/cancellation``.
    case cancellation
    /// What the operation does; see ``BatchFrame/Operation/kind``.
    case kind
    /// The attempts of a retry; see ``BatchFrame/Operation/attempts``.
    case attempts
    /// The progress of the operation; see ``BatchFrame/Operation/progress``.
    case progress
    /// What the operation does at this moment; see ``BatchFrame/Operation/status``.
    case status
    /// The time until the end of the operation's delay; see ``BatchFrame/Operation/delay``.
    case delay
  }
}

extension BatchFrame.Operation: Encodable {
  /// The key in an encoder's `userInfo` for an array of ``Field``. The encoder writes only these
  /// fields of each operation. If the array is missing, the encoder writes all fields. A frame with
  /// missing fields cannot be decoded.
  public static let fieldsKey = CodingUserInfoKey(rawValue: "opq.frame.fields")

  /// Writes the selected fields of the operation. A field whose value is `nil` is omitted.
  public func encode(to encoder: any Encoder) throws {
    let wanted = Self.fieldsKey.flatMap { encoder.userInfo[$0] as? [Field] } ?? Field.allCases
    var container = encoder.container(keyedBy: Field.self)
    for field in wanted {
      switch field {
      case .id: try container.encode(id, forKey: field)
      case .state: try container.encode(state, forKey: field)
      case .queue: try container.encode(queue, forKey: field)
      case .className: try container.encode(className, forKey: field)
      case .priority: try container.encode(priority, forKey: field)
      case .dependencies: try container.encode(dependencies, forKey: field)
      case .unmetDependencyCount: try container.encode(unmetDependencyCount, forKey: field)
      case .seconds: try container.encodeIfPresent(seconds, forKey: field)
      case .secondsInState: try container.encodeIfPresent(secondsInState, forKey: field)
      case .name: try container.encode(name, forKey: field)
      case .error: try container.encodeIfPresent(error, forKey: field)
      case .cancellation: try container.encodeIfPresent(cancellation, forKey: field)
      case .kind: try container.encodeIfPresent(kind, forKey: field)
      case .attempts: try container.encodeIfPresent(attempts, forKey: field)
      case .progress: try container.encodeIfPresent(progress, forKey: field)
      case .status: try container.encodeIfPresent(status, forKey: field)
      case .delay: try container.encodeIfPresent(delay, forKey: field)
      }
    }
  }
}
