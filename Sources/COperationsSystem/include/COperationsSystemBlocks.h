// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
//
// Small blocks of memory of four sizes: 64, 128, 256 and 512 bytes. Each thread has a list of free blocks, so
// that most calls need no lock. Pages whose blocks are all free are returned to the system.
//
// With malloc(3) of glibc, a random graph of a million operations spent a fifth of its time in the allocator, half
// of it to combine free blocks.
#pragma once
#include <stdint.h>

#pragma clang assume_nonnull begin

/// The number of sizes of blocks. Size 0 is 64 bytes, and each further size is twice as large.
enum { csystem_block_size_count = 4 };

/// Returns the number of bytes of a block.
static inline uint32_t csystem_block_bytes(int32_t size) { return (uint32_t)64 << size; }

/// Returns a block of uninitialized memory, aligned to 64 bytes. The process ends if no memory is left. Any thread
/// may free the block.
void *csystem_allocate_block(int32_t size);

/// Frees a block of this size.
void csystem_free_block(void *block, int32_t size);

/// Returns the number of bytes that the blocks take in memory, including free blocks. For tests.
uint64_t csystem_block_memory(void);

#pragma clang assume_nonnull end
