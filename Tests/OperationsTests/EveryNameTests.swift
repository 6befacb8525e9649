// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import Operations
import Testing
import XCTest

@Suite("The library's names with Foundation's and XCTest's")
struct EveryNameTests {
  /// Every public type of this library. If Foundation also had a type of one of these names, the
  /// name would be ambiguous here, and both `Exports.swift` files would have to re-export the
  /// library's type.
  private static let types: [Any.Type] = [
    AsyncOperation<Int>.self, ResultOperation<Int>.self, BlockOperation.self,
    OperationDeadlock.self, OperationDependencyChain.self, OperationDiagnostic.self,
    InvocationOperation<Int>.self, InvocationOperationError.self,
    KeyValueChanges<Int>.self,
    (any KeyValueObservable).self, KeyValueObservationHost.self, (any KeyValueObserver).self,
    OperationMisuse.self, NSKeyValueChange.self,
    NSKeyValueChangeKey.self, NSKeyValueObservation.self, NSKeyValueObservedChange<Int>.self,
    NSKeyValueObservingOptions.self, NotRunningReason.self, Operation.self, OperationID.self,
    OperationQueue.self, OperationReference.self, OperationStartLimit.self, OperationSnapshot.self,
    OperationStateChange.self,
    OperationStateChanges.self, OperationState.self,
    (any OperationQueueSupplement).self, (any OperationSupplement).self, QualityOfService.self,
    QueueID.self,
    QueueReference.self, QueueSnapshot.self, WorkerConfiguration.self,
  ]

  @Test("Each name can be used without its module")
  func names() {
    let foreign = Self.types.filter { !String(reflecting: $0).contains("OperationsCore.") }
    #expect(foreign.isEmpty, "\(foreign)")
  }
}
