// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension BatchFrame.Operation {
  /// The fields of an operation. The raw value is the word for options and JSON.
  public enum Field: String, CodingKey, CaseIterable, Sendable {
    /// ``BatchFrame/Operation/id``
    case id
    /// ``BatchFrame/Operation/state``
    case state
    /// ``BatchFrame/Operation/queue``
    case queue
    /// ``BatchFrame/Operation/className``
    case className = "class"
    /// ``BatchFrame/Operation/priority``
    case priority
    /// ``BatchFrame/Operation/dependencies``
    case dependencies
    /// ``BatchFrame/Operation/unmetDependencyCount``
    case unmetDependencyCount = "unmet"
    /// ``BatchFrame/Operation/seconds``
    case seconds
    /// ``BatchFrame/Operation/secondsInState``
    case secondsInState
    /// ``BatchFrame/Operation/name``
    case name
  }
}

extension BatchFrame.Operation: Encodable {
  /// The key for an array of ``Field`` in an encoder's `userInfo`. Operations are written with only
  /// these fields; without the array, with all fields. A frame that lacks fields cannot be decoded.
  public static let fieldsKey = CodingUserInfoKey(rawValue: "opq.frame.fields")

  /// Writes the selected fields. Fields that are `nil` are omitted.
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
      }
    }
  }
}
