// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The graph of the needs of jobs.
///
/// The vertices are the jobs and the distinct ranges of more than one job. A job that needs a range has an edge to
/// the range, and the range has edges to its jobs. Therefore the number of edges does not grow with the product of
/// the sizes of two groups. No function of the graph is recursive, because a chain of needs can be long.
struct JobGraph {
  /// The indices of all jobs in an order in which each job follows its needs. Where the needs permit it, jobs have
  /// the order of the plan. The order is not complete if there is a cycle.
  private(set) var order: [Int] = []
  /// The indices of the jobs of a cycle; `nil` if there is no cycle. Each job needs the next job, and the last job needs
  /// the first one. The first job has the smallest index.
  private(set) var cycle: [Int]?

  private let jobs: [JobPlan.Job]
  /// The ranges of more than one job. Their vertices follow the vertices of the jobs.
  private var ranges: [Range<Int>] = []
  private var vertices: [Range<Int>: Int] = [:]

  private enum Mark { case unvisited, open, finished }

  /// Searches the graph of all jobs.
  ///
  /// - Parameter jobs: The jobs of a plan.
  init(_ jobs: [JobPlan.Job]) {
    self.init(jobs, from: jobs.indices)
  }

  /// Searches the part of the graph that contains some jobs and everything that they need.
  ///
  /// - Parameters:
  ///   - jobs: The jobs of a plan.
  ///   - roots: The indices of the jobs at which the search begins.
  init(_ jobs: [JobPlan.Job], from roots: some Sequence<Int>) {
    self.jobs = jobs
    for job in jobs {
      for range in job.needs where range.count > 1 && vertices[range] == nil {
        vertices[range] = jobs.count + ranges.count
        ranges.append(range)
      }
    }
    var marks = Array(repeating: Mark.unvisited, count: jobs.count + ranges.count)
    for root in roots where marks[root] == .unvisited && cycle == nil {
      search(from: root, &marks)
    }
  }

  private mutating func search(from root: Int, _ marks: inout [Mark]) {
    var path = [(vertex: root, edge: 0)]
    marks[root] = .open
    while let (vertex, edge) = path.last {
      guard let target = target(of: vertex, edge: edge) else {
        marks[vertex] = .finished
        path.removeLast()
        if vertex < jobs.count { order.append(vertex) }
        continue
      }
      path[path.count - 1].edge += 1
      switch marks[target] {
      case .finished: break
      case .unvisited:
        marks[target] = .open
        path.append((target, 0))
      case .open:
        let closed = path.drop { $0.vertex != target }.map(\.vertex).filter { $0 < jobs.count }
        let first = closed.indices.min { closed[$0] < closed[$1] } ?? 0
        cycle = Array(closed[first...] + closed[..<first])
        return
      }
    }
  }

  /// Returns the vertex to which an edge leads; `nil` if the vertex has fewer edges.
  private func target(of vertex: Int, edge: Int) -> Int? {
    guard vertex < jobs.count else {
      let range = ranges[vertex - jobs.count]
      return edge < range.count ? range.lowerBound + edge : nil
    }
    let needs = jobs[vertex].needs
    guard edge < needs.count else { return nil }
    return vertices[needs[edge]] ?? needs[edge].lowerBound
  }
}
