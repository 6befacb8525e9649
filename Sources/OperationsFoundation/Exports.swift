// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// In place of `import Foundation`: all of Foundation, with this library's operations and queues in it.
// The scoped lines work as those of Operations do, and must name the same types: a name found by a
// scoped import wins over one found by a whole-module import, and that holds through a re-export, also
// where the importing file imports Foundation, XCTest or Operations as well.
//
// No other file of this module may import one of these by scope: of the two the compiler would record
// the one that is not re-exported, and the name would be ambiguous for users (seen with Swift 6.3). They
// say OperationsCore.OperationQueue instead.
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
