// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("The size of an operation")
struct OperationSizeTests {
  private typealias UsableSize = @convention(c) (UnsafeMutableRawPointer?) -> Int

  @Test("A block operation is at most as large as a block that glibc frees without a lock")
  func blockOperation() throws {
    // `malloc_usable_size` is looked up by name, because the module `Glibc` does not include
    // <malloc.h>.
    let symbol = try #require(dlsym(nil, "malloc_usable_size"))
    let usableSize = unsafeBitCast(symbol, to: UsableSize.self)
    let operation = BlockOperation {}
    #expect(usableSize(Unmanaged.passUnretained(operation).toOpaque()) <= 120)
    withExtendedLifetime(operation) {}
  }
}
