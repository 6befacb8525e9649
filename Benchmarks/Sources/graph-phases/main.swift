// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Measures the phases in the life of 1,000,000 empty operations that depend on each other: make, link, add, run
// and free. Each operation depends on k random operations among the 1,000 operations before it. The program
// prints a table with the medians of several rounds, in nanoseconds for one operation.
//
//   graph-phases [ROUNDS [OPERATIONS]]

import Comparison
import Operations
import Workloads

/// The times of one round, in nanoseconds for one operation.
struct Times {
  var make = 0
  var link = 0
  var add = 0
  var run = 0
  var free = 0
  /// The bytes that an operation and its dependencies need before the operation is added.
  var bytes = 0
}

/// Adds the dependencies of one operation after the other.
func link(_ operations: [BlockOperation], _ edges: [Links.Edge]) {
  var next = 0
  for (index, operation) in operations.enumerated() {
    while next < edges.count, edges[next].after == index {
      operation.addDependency(operations[edges[next].before])
      next += 1
    }
  }
  precondition(next == edges.count, "The edges are not sorted by dependents")
}

func measure(_ links: Links) -> Times {
  let clock = ContinuousClock()
  let size = links.count
  var times = Times()
  func time(_ work: () -> Void) -> Int {
    let duration = clock.measure(work)
    return Int(duration / .nanoseconds(1)) / size
  }
  let queue = OperationQueue()
  queue.isSuspended = true
  var operations: [BlockOperation] = []
  operations.reserveCapacity(size)
  times.bytes = ResidentMemory.growth(size: size) {
    times.make = time { for _ in 0..<size { operations.append(BlockOperation {}) } }
    times.link = time { link(operations, links.edges) }
  }
  times.add = time { for operation in operations { queue.addOperation(operation) } }
  times.run = time {
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }
  times.free = time { operations = [] }
  return times
}

func median(_ values: [Int]) -> Int { values.sorted()[values.count / 2] }

let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
let rounds = max(1, arguments.first ?? 7)
let size = arguments.count > 1 ? max(2_000, arguments[1]) : 1_000_000
let dependencyCounts = [0, 1, 2, 4, 8]
// The memory is measured in the first round. A smaller graph runs before larger ones, so that little freed memory
// is used again.
var samples: [Int: [Times]] = [:]
for _ in 0..<rounds {
  for count in dependencyCounts {
    samples[count, default: []].append(measure(.random(size, dependencies: count)))
  }
}

print("Nanoseconds in each phase of an operation; \(size) operations depend on k others each:\n")
var table = TextTable(
  words: [], numbers: ["k", "make", "link", "per edge", "add", "run", "free", "sum", "bytes"])
var medians: [Int: Times] = [:]
for count in dependencyCounts {
  let all = samples[count] ?? []
  let times = Times(
    make: median(all.map(\.make)), link: median(all.map(\.link)), add: median(all.map(\.add)),
    run: median(all.map(\.run)), free: median(all.map(\.free)), bytes: all.first?.bytes ?? 0)
  medians[count] = times
  let perEdge = count == 0 ? nil : String(times.link / count)
  let sum = times.make + times.link + times.add + times.run + times.free
  let phases = [times.add, times.run, times.free, sum, times.bytes].map { String($0) }
  table.add(words: [], numbers: ["\(count)", "\(times.make)", "\(times.link)", perEdge] + phases)
}
print(table.text)
if let none = medians[0], let one = medians[1], let four = medians[4] {
  print("an edge beyond the first: \((four.link - one.link) / 3) ns to link")
  print("an edge: \((four.free - none.free) / 4) ns to free")
}
