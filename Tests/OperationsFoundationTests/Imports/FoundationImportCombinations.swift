// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The types of the files in this folder, one for each combination of imports. Each file imports
/// the modules in its name, in that order.
enum FoundationImportCombinations {
  static let all: [any ImportCombination.Type] = [
    OnlyOperationsFoundation.self,
    FoundationAndOperationsFoundation.self,
    OperationsFoundationAndFoundation.self,
    OperationsFoundationAndCore.self,
    CoreAndOperationsFoundation.self,
    FoundationAndOperationsFoundationAndCore.self,
    CoreAndOperationsFoundationAndFoundation.self,
    OperationsFoundationAndXCTest.self,
    XCTestAndOperationsFoundation.self,
    OperationsFoundationAndReexport.self,
    ReexportAndOperationsFoundation.self,
    OperationsFoundationAndTesting.self,
    XCTestAndReexportAndFoundationAndCoreAndOperationsFoundation.self,
    OperationsFoundationAndCoreAndFoundationAndReexportAndXCTest.self,
    OperationsAndOperationsFoundation.self,
    OperationsFoundationAndOperations.self,
    FoundationAndOperationsAndOperationsFoundation.self,
    XCTestAndOperationsFoundationAndCoreAndOperations.self,
  ]
}
