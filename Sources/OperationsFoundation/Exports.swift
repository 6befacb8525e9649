// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// This module is imported in place of Foundation. It exports all of Foundation, with this library's
// operations and queues instead of Foundation's. The scoped imports work like those of the module Operations,
// and must name the same types. The compiler prefers a name that it finds by a scoped import to a name that
// it finds by the import of a whole module. This is also true for a re-export, even if the importing file
// also imports Foundation, XCTest or Operations.
//
// No other file of this module may import one of these types by scope. If both imports exist, the compiler
// records the import that is not re-exported, and the name is ambiguous for users (seen with Swift 6.3).
// Other files write OperationsCore.OperationQueue instead.
//
// On Apple platforms this module re-exports Foundation, whose operations are the model of this library; see
// Exports.swift of the module Operations.
@_exported public import Foundation

#if !canImport(ObjectiveC)
  @_exported public import OperationsCore
  @_exported public import class OperationsCore.BlockOperation
  @_exported public import class OperationsCore.Operation
  @_exported public import class OperationsCore.OperationQueue
  @_exported public import enum OperationsCore.QualityOfService
#endif
