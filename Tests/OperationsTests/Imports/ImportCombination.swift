// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

/// What a file makes of the names that Foundation has too, with the imports that it has.
///
/// That it compiles is half of the proof: a name that is ambiguous there is an error.
protocol ImportCombination: SendableMetatype {
  /// What Operation, BlockOperation, OperationQueue and QualityOfService are, in this order.
  static var types: [Any.Type] { get }

  /// Runs operations in a queue, and gives what it has made: an operation of a subclass, a block
  /// operation, the queue and a quality of service.
  static func work() -> [Any]
}

extension ImportCombination {
  /// Expects that the four names are ours in the file.
  static func expectOurNames() {
    let ours: [Any.Type] = [
      OperationsCore.Operation.self, OperationsCore.BlockOperation.self,
      OperationsCore.OperationQueue.self, OperationsCore.QualityOfService.self,
    ]
    #expect(types.map(ObjectIdentifier.init) == ours.map(ObjectIdentifier.init), "\(self)")
  }

  /// Expects that what the file makes is ours, and has run.
  static func expectOurWork() async throws {
    let made = try await onOwnThread { Made(work()) }
    #expect(made.job?.isFinished == true && made.block?.isFinished == true, "\(self)")
    #expect(made.queue?.qualityOfService == .utility && made.level == .utility, "\(self)")
  }
}

/// What a file has made, where it is ours.
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
