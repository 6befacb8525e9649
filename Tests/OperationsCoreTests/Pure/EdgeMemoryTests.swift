// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import TestSupport
import Testing

@testable import OperationsCore

@Suite("The memory of dependencies", .timeLimit(.minutes(5)))
struct EdgeMemoryTests {
  /// A block with its size, and the number that was written to all of its words.
  private struct Block: @unchecked Sendable {
    let address: UnsafeMutableRawPointer
    let size: Int32
    let mark: UInt

    init(size: Int32, mark: UInt) {
      (address, self.size, self.mark) = (csystem_allocate_block(size), size, mark)
      words.update(repeating: mark)
    }

    var words: UnsafeMutableBufferPointer<UInt> {
      UnsafeMutableBufferPointer(
        start: address.assumingMemoryBound(to: UInt.self), count: Int(csystem_block_bytes(size)) / 8
      )
    }

    var isIntact: Bool { words.allSatisfy { $0 == mark } }

    func free() { csystem_free_block(address, size) }
  }

  @Test("DE-14: blocks have their size, are aligned to 64 bytes, and do not overlap")
  func distinctBlocks() {
    let blocks = (0..<20_000).map { Block(size: Int32($0 % 4), mark: UInt($0)) }
    #expect(blocks.allSatisfy { UInt(bitPattern: $0.address) % 64 == 0 })
    #expect(blocks.allSatisfy { $0.isIntact })
    blocks.forEach { $0.free() }
  }

  @Test("DE-14: the memory of freed blocks is returned to the system")
  func returnedMemory() async throws {
    // The blocks are freed by another thread than the one that has allocated them, and both threads end.
    let before = csystem_block_memory()
    let blocks = try await onOwnThread { (0..<100_000).map { Block(size: Int32($0 % 4), mark: 1) } }
    let most = csystem_block_memory()
    try await onOwnThread { blocks.forEach { $0.free() } }
    let after = csystem_block_memory()
    // AddressSanitizer replaces the memory of blocks, which is zero in that case.
    #expect(most == before || after < before + (most - before) / 10)
  }

  /// Blocks that several threads exchange.
  private final class Exchange: Sendable {
    private let blocks = Locked<[Block]>([])

    /// Stores a block, and returns a random one if there are many.
    func give(_ block: Block, _ random: inout SeededGenerator) -> Block? {
      let position = Int(random.next() >> 1)
      return blocks.withLock { blocks in
        blocks.append(block)
        guard blocks.count > 500 else { return nil }
        blocks.swapAt(position % blocks.count, blocks.count - 1)
        return blocks.removeLast()
      }
    }

    /// Allocates and frees blocks.
    ///
    /// - Returns: The number of blocks whose contents have changed.
    func work(seed: UInt64, rounds: Int) -> Int {
      var random = SeededGenerator(seed: seed)
      var damagedCount = 0
      for _ in 0..<rounds {
        let block = Block(size: Int32.random(in: 0..<4, using: &random), mark: UInt(random.next()))
        guard let other = give(block, &random) else { continue }
        if !other.isIntact { damagedCount += 1 }
        other.free()
      }
      return damagedCount
    }

    func takeAll() -> [Block] {
      blocks.withLock { blocks in
        defer { blocks = [] }
        return blocks
      }
    }
  }

  @Test("DE-14: race: several threads allocate blocks and free those of each other")
  func exchangedBlocks() async throws {
    let seed = SeededGenerator.announcedSeed()
    let exchange = Exchange()
    let rounds = max(2_000, Effort.scaled(50_000))
    async let first = onOwnThread { exchange.work(seed: seed, rounds: rounds) }
    async let second = onOwnThread { exchange.work(seed: seed &+ 1, rounds: rounds) }
    async let third = onOwnThread { exchange.work(seed: seed &+ 2, rounds: rounds) }
    #expect(try await [first, second, third] == [0, 0, 0])
    let left = exchange.takeAll()
    #expect(left.count == 500 && left.allSatisfy { $0.isIntact })
    left.forEach { $0.free() }
  }
}
