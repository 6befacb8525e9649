// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// This module is imported in place of Foundation: it exports all of Foundation, with this library's
// operations and queues in it. The scoped lines work as those of Operations do, and must name the same types:
// a name found by a scoped import wins over one found by a whole-module import, and that holds through a
// re-export, even if the importing file also imports Foundation, XCTest or Operations.
//
// No other file of this module may import one of these by scope. If both imports exist, the compiler records
// the one that is not re-exported, and the name is ambiguous for users (seen with Swift 6.3). Other files
// write OperationsCore.OperationQueue instead.
//
// On Apple platforms Foundation's own operations are the model: see Operations' Exports.swift.
@_exported public import Foundation

#if !canImport(ObjectiveC)
  @_exported public import OperationsCore
  @_exported public import class OperationsCore.BlockOperation
  @_exported public import class OperationsCore.Operation
  @_exported public import class OperationsCore.OperationQueue
  @_exported public import enum OperationsCore.QualityOfService
#endif
