// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

/// A test of type names that Foundation also uses, in a file with certain imports. Each name must
/// mean this library's type.
///
/// That the file compiles is one part of the check: an ambiguous name would be a compile-time
/// error.
protocol ImportCombination: SendableMetatype {
  /// The types Operation, BlockOperation, OperationQueue and QualityOfService, in this order.
  static var types: [Any.Type] { get }

  /// Runs operations in a queue, and returns four values: an operation of a subclass, a block
  /// operation, the queue and a quality of service.
  static func work() -> [Any]
}

extension ImportCombination {
  /// Expects that the four names mean this library's types in the file.
  static func expectOurNames() {
    let ours: [Any.Type] = [
      OperationsCore.Operation.self, OperationsCore.BlockOperation.self,
      OperationsCore.OperationQueue.self, OperationsCore.QualityOfService.self,
    ]
    #expect(types.map(ObjectIdentifier.init) == ours.map(ObjectIdentifier.init), "\(self)")
  }

  /// Expects that the values of the file are of this library's types, and that the operations have
  /// run.
  static func expectOurWork() async throws {
    let made = try await onOwnThread { Made(work()) }
    #expect(made.job?.isFinished == true && made.block?.isFinished == true, "\(self)")
    #expect(made.queue?.qualityOfService == .utility && made.level == .utility, "\(self)")
  }
}

/// The values that a file with certain imports has created. Each property is `nil` if the value is
/// not of this library's type.
private struct Made: Sendable {
  let job: OperationsCore.Operation?
  let block: OperationsCore.BlockOperation?
  let queue: OperationsCore.OperationQueue?
  let level: OperationsCore.QualityOfService?

  init(_ all: [Any]) {
    job = all[0] as? OperationsCore.Operation
    block = all[1] as? OperationsCore.BlockOperation
    queue = all[2] as? OperationsCore.OperationQueue
    level = all[3] as? OperationsCore.QualityOfService
  }
}
