// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if canImport(ObjectiveC)
  // On Apple platforms this module re-exports Foundation, whose operations are the model of this library.
  // Shared code can therefore import Operations on every platform.
  @_exported public import Foundation
#else
  // The scoped imports make names unambiguous in a file that imports both Foundation and Operations. The
  // compiler prefers a name that it finds by a scoped import to a name that it finds by the import of a whole
  // module, even through a re-export. Every public type of OperationsCore whose name Foundation has too must
  // be listed here, and in OperationsFoundation.
  @_exported public import Dispatch
  @_exported public import OperationsCore
  @_exported public import class OperationsCore.BlockOperation
  @_exported public import class OperationsCore.Operation
  @_exported public import class OperationsCore.OperationQueue
  @_exported public import enum OperationsCore.QualityOfService
#endif
