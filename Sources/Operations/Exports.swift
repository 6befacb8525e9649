// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if canImport(ObjectiveC)
  // On Apple platforms Foundation's own operations are the model: code that is shared imports
  // Operations everywhere, and there it is Foundation.
  @_exported public import Foundation
#else
  // The scoped lines are what makes `import Foundation` beside `import Operations` unambiguous: a name
  // found by a scoped import wins over one found by a whole-module import, and that holds through a
  // re-export. Every public type of OperationsCore whose name Foundation has too must be listed here,
  // and in OperationsFoundation.
  @_exported public import Dispatch
  @_exported public import OperationsCore
  @_exported public import class OperationsCore.BlockOperation
  @_exported public import class OperationsCore.Operation
  @_exported public import class OperationsCore.OperationQueue
  @_exported public import enum OperationsCore.QualityOfService
#endif
