// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport

/// Chooses random dependencies to add and to remove, so that the numbers of dependencies and dependents of two
/// operations, the hubs, rise and fall again and again.
///
/// The operations with the smallest indices are the possible dependencies of the hubs. The hubs follow, and then
/// the possible dependents of the hubs. Each operation depends only on operations with smaller indices, so there
/// are no cycles.
struct EdgeWalk {
  /// The maximum numbers of edges of one operation.
  ///
  /// An operation stores its first dependency and its first dependent in place, a second edge in its tagged
  /// word, up to 62 further edges of both kinds in one block, and more edges in a list. These numbers are on
  /// both sides of each limit, for each kind of edge and for the sum.
  struct Size: Sendable, CustomStringConvertible {
    let dependencies: Int
    let dependents: Int

    var description: String { "\(dependencies) dependencies, \(dependents) dependents" }

    static let few = Size(dependencies: 3, dependents: 3)
    static let forty = Size(dependencies: 40, dependents: 40)
    static let all = [
      few, forty, Size(dependencies: 66, dependents: 3), Size(dependencies: 3, dependents: 66),
      Size(dependencies: 34, dependents: 34), Size(dependencies: 66, dependents: 66),
    ]
  }

  private struct Wanted {
    var dependencies: Int
    var dependents: Int
  }

  let size: Size
  let dependencies: Range<Int>
  let hubs: Range<Int>
  let dependents: Range<Int>
  private var wanted: [Wanted]

  /// The number of operations.
  var count: Int { dependents.upperBound }

  init(_ size: Size) {
    self.size = size
    dependencies = 0..<size.dependencies + 2
    hubs = dependencies.upperBound..<dependencies.upperBound + 2
    // Some of the possible dependents finish or are cancelled, and then do not wait for a hub.
    dependents = hubs.upperBound..<hubs.upperBound + size.dependents * 3 / 2 + 2
    let most = Wanted(dependencies: size.dependencies, dependents: size.dependents)
    wanted = [most, Wanted(dependencies: size.dependencies / 2, dependents: 2)]
  }

  /// Chooses a step that adds or removes a dependency, or that has no effect because the dependency is already
  /// listed or is not listed.
  ///
  /// - Parameters:
  ///   - random: The generator of random numbers.
  ///   - dependencies: A function that returns the dependencies of an operation.
  ///   - dependents: A function that returns the unfinished dependents of an operation.
  /// - Returns: The step.
  mutating func step(
    using random: inout SeededGenerator, dependencies: (Int) -> [Int], dependents: (Int) -> [Int]
  ) -> Step {
    // Any two operations may get an edge.
    if Int.random(in: 0..<24, using: &random) == 0 { return anyStep(using: &random) }
    let number = Int.random(in: 0..<4, using: &random) == 0 ? 1 : 0
    let hub = hubs.lowerBound + number
    let listed = dependencies(hub)
    let waiting = dependents(hub)
    // The walk mostly changes the number that differs more from the wanted one.
    let isFarther =
      abs(wanted[number].dependencies - listed.count)
      > abs(
        wanted[number].dependents - waiting.count)
    if isFarther == (Int.random(in: 0..<4, using: &random) > 0) {
      let (other, adds) = choice(
        listed, from: self.dependencies, &wanted[number].dependencies, size.dependencies, &random)
      return adds ? .depend(hub, on: other) : .undepend(hub, from: other)
    }
    let (other, adds) = choice(
      waiting, from: self.dependents, &wanted[number].dependents, size.dependents, &random)
    return adds ? .depend(other, on: hub) : .undepend(other, from: hub)
  }

  private func anyStep(using random: inout SeededGenerator) -> Step {
    let dependent = Int.random(in: 1..<count, using: &random)
    let dependency = Int.random(in: 0..<dependent, using: &random)
    return Bool.random(using: &random)
      ? .depend(dependent, on: dependency) : .undepend(dependent, from: dependency)
  }

  /// Returns the other operation of the edge, and whether the edge is added.
  private func choice(
    _ listed: [Int], from possible: Range<Int>, _ wanted: inout Int, _ most: Int,
    _ random: inout SeededGenerator
  ) -> (Int, adds: Bool) {
    let any = Int.random(in: possible, using: &random)
    switch Int.random(in: 0..<12, using: &random) {
    case 0: return (listed.randomElement(using: &random) ?? any, true)
    case 1: return (any, false)
    case 2: return (any, true)
    default: break
    }
    if listed.count == wanted { wanted = Self.level(upTo: most, &random) }
    if listed.count > wanted { return (listed.randomElement(using: &random) ?? any, false) }
    let others = possible.filter { !listed.contains($0) }
    return (others.randomElement(using: &random) ?? any, true)
  }

  /// Returns a number of edges. Numbers at which the storage of the edges changes are frequent.
  private static func level(upTo most: Int, _ random: inout SeededGenerator) -> Int {
    let levels = [0, 1, 2, 3, 4, 7, 8, most / 2, 62, 63, 64, 65, most]
    return levels.filter { $0 <= most }.randomElement(using: &random) ?? most
  }
}
