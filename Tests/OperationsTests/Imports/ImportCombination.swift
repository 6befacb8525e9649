// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

/// The meaning of the names that Foundation has too, in a file with certain imports.
///
/// The successful compilation is half of the proof: an ambiguous name in the file is an error.
protocol ImportCombination: SendableMetatype {
  /// The types Operation, BlockOperation, OperationQueue and QualityOfService, in this order.
  static var types: [Any.Type] { get }

  /// Runs operations in a queue, and returns the created values: an operation of a subclass, a
  /// block operation, the queue and a quality of service.
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

/// The values of a file, if they are of this library's types.
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
