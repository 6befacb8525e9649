// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#include <tbb/flow_graph.h>

#include <deque>

#include "TBBPeer.h"

namespace {

using Message = tbb::flow::continue_msg;

/// Nodes must not move in memory, because edges are pointers to them.
struct Graph {
  tbb::flow::graph graph;
  std::deque<tbb::flow::continue_node<Message>> nodes;

  Graph(size_t count, const tbb_peer_edge *edges, size_t edge_count, void (*block)(void)) {
    for (size_t index = 0; index < count; index++) {
      nodes.emplace_back(graph, [block](const Message &message) {
        block();
        return message;
      });
    }
    for (size_t index = 0; index < edge_count; index++) {
      tbb::flow::make_edge(nodes[edges[index].before], nodes[edges[index].after]);
    }
  }
};

}  // namespace

void tbb_peer_run_graph(
    size_t count, const tbb_peer_edge *edges, size_t edge_count, const uint32_t *roots,
    size_t root_count, void (*block)(void)) {
  Graph graph(count, edges, edge_count, block);
  for (size_t index = 0; index < root_count; index++) {
    graph.nodes[roots[index]].try_put(Message());
  }
  graph.graph.wait_for_all();
}

void tbb_peer_leave_graph(
    size_t count, const tbb_peer_edge *edges, size_t edge_count, void (*block)(void)) {
  new Graph(count, edges, edge_count, block);
}
