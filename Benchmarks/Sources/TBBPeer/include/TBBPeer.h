// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
//
// The functions that measure oneTBB. Unless stated otherwise, a function returns when all the work
// is done and everything that it created is freed.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma clang assume_nonnull begin

/// Runs `block` `count` times, as tasks of one task_group.
void tbb_peer_run_tasks(size_t count, void (*block)(void));

/// Runs `block` `count` times in a binary tree: each task adds its two children to the group.
void tbb_peer_run_task_tree(size_t count, void (*block)(void));

/// An edge between two nodes. The node `after` may run only after the node `before` has run.
struct tbb_peer_edge {
  uint32_t before;
  uint32_t after;
};

/// Creates a flow graph of `count` nodes that run `block`, links the nodes, and runs the graph.
///
/// `roots` are the nodes without an incoming edge.
void tbb_peer_run_graph(
    size_t count, const struct tbb_peer_edge *edges, size_t edge_count, const uint32_t *roots,
    size_t root_count, void (*block)(void));

/// Creates and links a graph like `tbb_peer_run_graph`, but does not run it and never frees it.
void tbb_peer_leave_graph(
    size_t count, const struct tbb_peer_edge *edges, size_t edge_count, void (*block)(void));

/// A task_group to which tasks are added one by one.
struct tbb_peer_group;

/// Returns a new group. Free it with `tbb_peer_free_group`.
struct tbb_peer_group *tbb_peer_make_group(void);

/// Adds a task that calls `block` with `context`.
void tbb_peer_add_task(struct tbb_peer_group *group, void (*block)(void *), void *context);

/// Waits for the tasks and frees the group.
void tbb_peer_free_group(struct tbb_peer_group *group);

#pragma clang assume_nonnull end

#ifdef __cplusplus
}
#endif
