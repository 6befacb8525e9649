// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#include <tbb/task_group.h>

#include "TBBPeer.h"

struct tbb_peer_group {
  tbb::task_group tasks;
};

namespace {

/// A node of a binary tree, numbered as in a binary heap.
struct Node {
  tbb::task_group &group;
  size_t index;
  size_t count;
  void (*block)(void);

  void operator()() const {
    block();
    for (size_t child = 2 * index + 1; child <= 2 * index + 2 && child < count; child++) {
      group.run(Node{group, child, count, block});
    }
  }
};

}  // namespace

void tbb_peer_run_tasks(size_t count, void (*block)(void)) {
  tbb::task_group group;
  for (size_t index = 0; index < count; index++) {
    group.run([block] { block(); });
  }
  group.wait();
}

void tbb_peer_run_task_tree(size_t count, void (*block)(void)) {
  tbb::task_group group;
  group.run(Node{group, 0, count, block});
  group.wait();
}

tbb_peer_group *tbb_peer_make_group(void) { return new tbb_peer_group; }

void tbb_peer_add_task(tbb_peer_group *group, void (*block)(void *), void *context) {
  group->tasks.run([block, context] { block(context); });
}

void tbb_peer_free_group(tbb_peer_group *group) {
  group->tasks.wait();
  delete group;
}
