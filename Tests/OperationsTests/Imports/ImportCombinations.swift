// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The types of the files in this folder, one for each combination of imports. Each file imports
/// the modules in its name, in that order.
enum ImportCombinations {
  static let all: [any ImportCombination.Type] = [
    OnlyOperations.self,
    FoundationAndOperations.self,
    OperationsAndFoundation.self,
    OperationsAndCore.self,
    CoreAndOperations.self,
    FoundationAndOperationsAndCore.self,
    CoreAndOperationsAndFoundation.self,
    OperationsAndXCTest.self,
    XCTestAndOperations.self,
    OperationsAndReexport.self,
    ReexportAndOperations.self,
    OperationsAndTesting.self,
    XCTestAndReexportAndFoundationAndCoreAndOperations.self,
    OperationsAndCoreAndFoundationAndReexportAndXCTest.self,
  ]
}
