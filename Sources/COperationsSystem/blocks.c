// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#define _GNU_SOURCE 1
#include "COperationsSystemBlocks.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

enum {
  size_count = csystem_block_size_count,
  /// The bytes of a region, which contains blocks of one size and begins at a multiple of its length.
  region_bytes = 1 << 18,
  /// The number of blocks that a thread takes or returns at once.
  batch = 32,
};

/// A free block. Its first bytes are the link to the next one.
struct block {
  struct block *next;
};

/// The head of a region, in the place of its first block.
struct region {
  /// The neighbours in the list of regions with free blocks.
  struct region *previous, *next;
  struct block *free;
  /// The number of blocks in `free`.
  uint32_t free_count;
  /// The number of blocks that have been used, at the beginning of the region. The blocks after them are free,
  /// and are not in `free`.
  uint32_t used_count;
};

/// The lock guards the regions and their lists.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/// The regions with free blocks, by the size of the blocks.
static struct region *partial[size_count];
static uint64_t region_count;

/// The free blocks of one thread.
struct cache {
  struct block *free[size_count];
  uint32_t count[size_count];
  bool is_registered;
};

static _Thread_local struct cache own __attribute__((tls_model("initial-exec")));
static pthread_key_t end_of_thread;
/// Whether the process had a free key. Otherwise, the free blocks of ended threads are lost.
static bool has_key;

static uint32_t capacity(int32_t size) { return region_bytes / csystem_block_bytes(size) - 1; }

static struct region *region_of(void *block) {
  return (struct region *)((uintptr_t)block & ~(uintptr_t)(region_bytes - 1));
}

static void append(struct region *region, int32_t size) {
  region->previous = NULL;
  region->next = partial[size];
  if (region->next != NULL) region->next->previous = region;
  partial[size] = region;
}

static void remove_from_list(struct region *region, int32_t size) {
  if (region->previous != NULL) {
    region->previous->next = region->next;
  } else {
    partial[size] = region->next;
  }
  if (region->next != NULL) region->next->previous = region->previous;
}

/// Maps a region. The kernel returns any multiple of the page size, so the parts before and after the region
/// are unmapped.
static struct region *make_region(void) {
  char *memory = mmap(
      NULL, 2 * region_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) abort();
  char *begin = (char *)region_of(memory + region_bytes - 1);
  if (begin > memory) munmap(memory, (size_t)(begin - memory));
  munmap(begin + region_bytes, (size_t)(memory + region_bytes - begin));
  region_count += 1;
  return (struct region *)begin;
}

static bool is_full(const struct region *region, int32_t size) {
  return region->free_count == 0 && region->used_count == capacity(size);
}

static struct block *take(struct region *region, int32_t size) {
  struct block *block = region->free;
  if (block != NULL) {
    region->free = block->next;
    region->free_count -= 1;
    return block;
  }
  region->used_count += 1;
  return (struct block *)((char *)region + (size_t)region->used_count * csystem_block_bytes(size));
}

/// Takes a batch of blocks from one region. The first block is the one with the lowest address if the region is
/// new, so that neighbours in time are neighbours in memory.
static void fill(struct cache *cache, int32_t size) {
  pthread_mutex_lock(&lock);
  struct region *region = partial[size];
  if (region == NULL) {
    region = make_region();
    append(region, size);
  }
  struct block **last = &cache->free[size];
  while (cache->count[size] < batch && !is_full(region, size)) {
    *last = take(region, size);
    last = &(*last)->next;
    cache->count[size] += 1;
  }
  *last = NULL;
  if (is_full(region, size)) remove_from_list(region, size);
  pthread_mutex_unlock(&lock);
}

/// Returns a block to its region. The caller holds the lock.
static void give_back(struct block *block, int32_t size) {
  struct region *region = region_of(block);
  if (is_full(region, size)) append(region, size);
  block->next = region->free;
  region->free = block;
  region->free_count += 1;
  if (region->free_count < region->used_count) return;
  // One region without used blocks stays, so that a thread that takes and returns blocks in turn maps no memory.
  bool is_only_one = partial[size] == region && region->next == NULL;
  if (is_only_one) return;
  remove_from_list(region, size);
  munmap(region, region_bytes);
  region_count -= 1;
}

static void give_back_blocks(struct cache *cache, int32_t size, uint32_t remaining) {
  pthread_mutex_lock(&lock);
  while (cache->count[size] > remaining) {
    struct block *block = cache->free[size];
    cache->free[size] = block->next;
    cache->count[size] -= 1;
    give_back(block, size);
  }
  pthread_mutex_unlock(&lock);
}

static void thread_ends(void *cache) {
  for (int32_t size = 0; size < size_count; size++) give_back_blocks(cache, size, 0);
  ((struct cache *)cache)->is_registered = false;
}

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void after_fork(void) { pthread_mutex_unlock(&lock); }

/// Runs when the library is loaded. Handlers that are registered later may use blocks in the parent and in the
/// child.
__attribute__((constructor)) static void prepare(void) {
  has_key = pthread_key_create(&end_of_thread, thread_ends) == 0;
  // A forked child also uses the regions, so no other thread may change them during the fork.
  pthread_atfork(before_fork, after_fork, after_fork);
}

static void register_thread(struct cache *cache) {
  if (has_key) pthread_setspecific(end_of_thread, cache);
  cache->is_registered = true;
}

#if __has_feature(address_sanitizer)

// The sanitizer finds a use after the end of a block's life only if it knows the block.
void *csystem_allocate_block(int32_t size) {
  (void)fill;
  (void)register_thread;
  return aligned_alloc(64, csystem_block_bytes(size));
}

void csystem_free_block(void *block, int32_t size) {
  (void)size;
  free(block);
}

#else

void *csystem_allocate_block(int32_t size) {
  struct cache *cache = &own;
  if (!cache->is_registered) register_thread(cache);
  if (cache->free[size] == NULL) fill(cache, size);
  struct block *block = cache->free[size];
  cache->free[size] = block->next;
  cache->count[size] -= 1;
  return block;
}

void csystem_free_block(void *block, int32_t size) {
  struct cache *cache = &own;
  if (!cache->is_registered) register_thread(cache);
  struct block *freed = block;
  freed->next = cache->free[size];
  cache->free[size] = freed;
  cache->count[size] += 1;
  if (cache->count[size] >= 2 * batch) give_back_blocks(cache, size, batch);
}

#endif

uint64_t csystem_block_memory(void) {
  pthread_mutex_lock(&lock);
  uint64_t bytes = region_count * region_bytes;
  pthread_mutex_unlock(&lock);
  return bytes;
}
