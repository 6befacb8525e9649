// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@Suite("The same files in language mode 5")
struct ImportTests {
  private static let combinations = ImportCombinations.all + FoundationImportCombinations.all

  @Test("Each file compiles, and the four names are this library's", arguments: Self.combinations)
  func names(_ combination: any ImportCombination.Type) { combination.expectOurNames() }

  @Test(
    "Its subclass and block run in its queue, all the library's", arguments: Self.combinations)
  func work(_ combination: any ImportCombination.Type) async throws {
    try await combination.expectOurWork()
  }
}
