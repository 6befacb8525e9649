// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension Program {
  /// Smaller or simpler versions of this program, beginning with the smallest.
  var smaller: [Program] {
    withoutRuns + withoutOperations + withoutQueues + withSmallerBatches + withSimplerCast
      + withLaterFinishes
  }

  // MARK: Steps

  /// The programs that result from removing consecutive steps: half of all steps, a quarter, and so
  /// on down to a single step.
  private var withoutRuns: [Program] {
    var programs: [Program] = []
    var length = (steps.count + 1) / 2
    while length > 0 {
      for start in stride(from: 0, to: steps.count, by: length) {
        var program = self
        program.steps.removeSubrange(start..<min(start + length, steps.count))
        programs.append(program)
      }
      length = length == 1 ? 0 : (length + 1) / 2
    }
    return programs
  }

  private var withSmallerBatches: [Program] {
    steps.indices.flatMap { index -> [Program] in
      guard case .add(let members, to: let queue) = steps[index], members.count > 1 else {
        return []
      }
      return members.indices.map { left in
        var program = self
        var fewer = members
        fewer.remove(at: left)
        program.steps[index] = .add(fewer, to: queue)
        return program
      }
    }
  }

  /// The programs in which one operation finishes a step later. They are not shorter, but it may be
  /// possible to remove more of their steps.
  private var withLaterFinishes: [Program] {
    steps.indices.dropLast().compactMap { index in
      guard case .finish = steps[index] else { return nil }
      if case .finish = steps[index + 1] { return nil }
      var program = self
      program.steps.swapAt(index, index + 1)
      return program
    }
  }

  // MARK: Operations and queues

  private var withoutOperations: [Program] {
    operations.indices.map { left in
      var program = self
      program.operations.remove(at: left)
      program.steps = steps.compactMap {
        $0.renumbered(operation: { Self.index($0, without: left) }, queue: { $0 })
      }
      return program
    }
  }

  private var withoutQueues: [Program] {
    queues.indices.map { left in
      var program = self
      program.queues.remove(at: left)
      program.steps = steps.compactMap {
        $0.renumbered(operation: { $0 }, queue: { Self.index($0, without: left) })
      }
      return program
    }
  }

  private static func index(_ index: Int, without left: Int) -> Int? {
    index == left ? nil : index < left ? index : index - 1
  }

  /// The programs in which one operation is simpler: it is of a simpler kind, or has fewer mutual
  /// exclusions, no completion block or no observers.
  private var withSimplerCast: [Program] {
    var programs: [Program] = []
    for index in operations.indices {
      var program = self
      if operations[index].hasCompletionBlock {
        program.operations[index].hasCompletionBlock = false
        programs.append(program)
      }
      if !operations[index].exclusions.isEmpty {
        program = self
        program.operations[index].exclusions.removeLast()
        programs.append(program)
      }
      if operations[index].isObserved {
        program = self
        program.operations[index].isObserved = false
        programs.append(program)
      }
      for kind in [OperationKind.block, .plain] where kind.isSimpler(than: operations[index].kind) {
        program = self
        program.operations[index].kind = kind
        programs.append(program)
      }
    }
    for index in queues.indices where queues[index] != Line() {
      var program = self
      program.queues[index] = Line()
      programs.append(program)
    }
    return programs
  }
}

extension OperationKind {
  /// Returns whether this kind of operation is simpler than another kind. Two kinds are never
  /// simpler than each other, so that the simplification of a program ends.
  fileprivate func isSimpler(than other: OperationKind) -> Bool {
    guard let own = Self.allCases.firstIndex(of: self) else { return false }
    return other != .barrier && Self.allCases.prefix { $0 != other }.contains(self) && own >= 0
  }
}
