// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// The types of work that a program has passed to `serveRemoteWork`.
final class ServedTypes: Sendable {
  /// The types of this process.
  static let shared = ServedTypes()

  private let types = Locked<[String: any RemoteWork.Type]?>(nil)

  /// Sets the types.
  ///
  /// - Precondition: It is called once, and the types have different names.
  func set(_ types: [any RemoteWork.Type]) {
    var named: [String: any RemoteWork.Type] = [:]
    for type in types {
      let name = Self.name(of: type)
      if named.updateValue(type, forKey: name) != nil {
        fatalError("serveRemoteWork: two types have the name \(name); give one another name")
      }
    }
    let isFirst = self.types.withLock { types in
      defer { types = named }
      return types == nil
    }
    if !isFirst { fatalError("serveRemoteWork was called twice; pass all types to one call") }
  }

  /// Returns the type with a name; `nil` if it was not passed to `serveRemoteWork`.
  func type(named name: String) -> (any RemoteWork.Type)? { types.withLock { $0?[name] } }

  /// Returns the name of a type, which is the same in each process of an executable.
  ///
  /// Swift's name of a private or local type contains an address of the process. This address is removed.
  static func name(of type: any RemoteWork.Type) -> String {
    stableName(String(reflecting: type))
  }

  /// Returns a type's name without the addresses in it.
  static func stableName(_ name: String) -> String {
    name.replacing(/\(unknown context at \$[0-9a-f]+\)\./, with: "")
  }
}
