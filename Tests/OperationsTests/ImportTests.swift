// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@Suite("Operations imported alone and beside others")
struct ImportTests {
  @Test(
    "Each file compiles, and the four names are the library's", arguments: ImportCombinations.all)
  func names(_ combination: any ImportCombination.Type) { combination.expectOurNames() }

  @Test(
    "Its subclass and its block run in its queue, and all are this library's",
    arguments: ImportCombinations.all)
  func work(_ combination: any ImportCombination.Type) async throws {
    try await combination.expectOurWork()
  }
}
