// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
//
// What oneTBB is measured with. Each function returns when all the work has been done and everything
// that it made has been freed.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma clang assume_nonnull begin

/// Runs `block` so many times, as tasks of one task_group.
void tbb_peer_run_tasks(size_t count, void (*block)(void));

/// The same as a binary tree: each task adds its two children to the group.
void tbb_peer_run_task_tree(size_t count, void (*block)(void));

/// `after` may run only when `before` has.
struct tbb_peer_edge {
  uint32_t before;
  uint32_t after;
};

/// Makes a flow graph of `count` nodes that run `block`, links and runs it.
///
/// `roots` are the nodes that wait for no other.
void tbb_peer_run_graph(
    size_t count, const struct tbb_peer_edge *edges, size_t edge_count, const uint32_t *roots,
    size_t root_count, void (*block)(void));

/// Makes and links the same, does not run it, and never frees it.
void tbb_peer_leave_graph(
    size_t count, const struct tbb_peer_edge *edges, size_t edge_count, void (*block)(void));

/// A task_group for tasks one by one.
struct tbb_peer_group;

/// A new group, to be freed with `tbb_peer_free_group`.
struct tbb_peer_group *tbb_peer_make_group(void);

/// Adds a task that calls `block` with `context`.
void tbb_peer_add_task(struct tbb_peer_group *group, void (*block)(void *), void *context);

/// Waits for the tasks and frees the group.
void tbb_peer_free_group(struct tbb_peer_group *group);

#pragma clang assume_nonnull end

#ifdef __cplusplus
}
#endif
