// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// A random program: operations, queues, and the steps that use them.
///
/// This is a value that can be reduced: any part of it is still a program.
struct Program: Hashable, Sendable {
  struct Item: Hashable, Sendable {
    var kind = OperationKind.block
    var hasCompletionBlock = false
    /// The mutual exclusions of the operation, as indices of ``Program/exclusionLimits``.
    var exclusions: [Int] = []
    /// Whether the operation's flags have observers.
    var isObserved = false
  }

  struct Line: Hashable, Sendable {
    /// The initial value of `maxConcurrentOperationCount`.
    var width = 1
    /// Whether the queue has an `underlyingQueue`. If operations block until a step finishes them,
    /// the queue has none, because the operations would block threads of Dispatch that other tests
    /// need.
    var isOnDispatch = false
  }

  /// The limits of the mutual exclusions. Every program has these exclusions, in this order.
  static let exclusionLimits = [1, 2]

  var operations: [Item]
  var queues: [Line]
  var steps: [Step]
}

extension Program {
  /// The program without the mutual exclusions of operations that have their own condition, because
  /// the model does not predict these. Only ``FreeRun`` runs programs with such exclusions.
  var forModel: Program {
    var program = self
    for index in operations.indices where !operations[index].kind.hasPlainReadiness {
      program.operations[index].exclusions = []
    }
    return program
  }
}

// MARK: - Names

extension Program {
  static func name(ofOperation index: Int) -> String { letter(index, first: "a", count: 15) }
  static func name(ofExclusion index: Int) -> String { "exclusion\(index)" }
  static func name(ofQueue index: Int) -> String { letter(index, first: "p", count: 11) }

  private static func letter(_ index: Int, first: Unicode.Scalar, count: Int) -> String {
    let scalar = Unicode.Scalar(first.value + UInt32(index % count)).map(Character.init) ?? "?"
    return index < count ? "\(scalar)" : "\(scalar)\(index / count)"
  }
}

// MARK: - Text

extension Program: CustomStringConvertible {
  /// The program as Swift code.
  var description: String { text(marking: nil) }

  /// Returns the program as Swift code, with a mark after a certain number of steps.
  func text(marking stepCount: Int?) -> String {
    var lines = steps.map { Self.text(of: $0, in: operations) }
    if let stepCount, stepCount > 0 { lines[stepCount - 1] += "  // here" }
    return (declarations + lines).joined(separator: "\n")
  }

  private var declarations: [String] {
    var lines: [String] = []
    for index in Set(operations.flatMap(\.exclusions)).sorted() {
      let limit = Self.exclusionLimits[index]
      lines.append(
        "let \(Self.name(ofExclusion: index)) = MutualExclusion(name: …, limit: \(limit))")
    }
    for (index, item) in operations.enumerated() where item.kind != .barrier {
      let name = Self.name(ofOperation: index)
      lines.append("let \(name) = \(Self.initializer(of: item.kind))")
      if item.hasCompletionBlock { lines.append("\(name).completionBlock = { … }") }
      if !item.exclusions.isEmpty {
        let names = item.exclusions.map(Self.name(ofExclusion:)).joined(separator: ", ")
        lines.append("\(name).exclusions = [\(names)]")
      }
      if item.isObserved { lines.append("observeFlags(of: \(name))") }
    }
    for (index, line) in queues.enumerated() {
      let name = Self.name(ofQueue: index)
      lines.append("let \(name) = OperationQueue()")
      if line.isOnDispatch { lines.append("\(name).underlyingQueue = DispatchQueue(…)") }
      if line.width != -1 { lines.append("\(name).maxConcurrentOperationCount = \(line.width)") }
    }
    return lines
  }

  private static func initializer(of kind: OperationKind) -> String {
    switch kind {
    case .block: "BlockOperation { … }"
    case .plain: "Subclass()"
    case .asynchronous: "AsynchronousSubclass()"
    case .late: "LateSubclass(mainReturnsEarly: true)"
    case .lingering: "AsynchronousSubclass(finishesInsideStart: true)"
    case .selfFinishing: "AsynchronousSubclass(finishesOnCancel: true)"
    case .stateful: "StatefulSubclass(finishesOnCancel: true)"
    case .conditional: "Subclass(isReady: { super.isReady && condition })"
    case .oblivious: "Subclass(isReady: { condition })"
    case .barrier: ""
    }
  }

  /// Returns one step as a line of Swift code.
  static func text(of step: Step, in items: [Item]) -> String {
    func operation(_ index: Int) -> String { name(ofOperation: index) }
    func queue(_ index: Int) -> String { name(ofQueue: index) }
    switch step {
    case .add(let members, let target):
      if let only = members.first, members.count == 1 {
        return items[only].kind == .barrier
          ? "\(queue(target)).addBarrierBlock { \(operation(only)): … }"
          : "\(queue(target)).addOperation(\(operation(only)))"
      }
      let list = members.map(operation).joined(separator: ", ")
      return "\(queue(target)).addOperations([\(list)], waitUntilFinished: false)"
    case .start(let one): return "startThread { \(operation(one)).start() }"
    case .finish(let one):
      return items[one].kind.isAsynchronous
        ? "\(operation(one)).finish()" : "\(operation(one)).letBodyReturn()"
    case .cancel(let one): return "\(operation(one)).cancel()"
    case .cancelAll(let one): return "\(queue(one)).cancelAllOperations()"
    case .depend(let one, let other):
      return "\(operation(one)).addDependency(\(operation(other)))"
    case .require(let one, let other):
      return "\(operation(one)).addDependency(\(operation(other)), requires: .success)"
    case .undepend(let one, let other):
      return "\(operation(one)).removeDependency(\(operation(other)))"
    case .prioritise(let one, let priority):
      return "\(operation(one)).queuePriority = .\(priority)"
    case .allow(let one): return "\(operation(one)).condition = true"
    case .forbid(let one): return "\(operation(one)).condition = false"
    case .suspend(let one): return "\(queue(one)).isSuspended = true"
    case .resume(let one): return "\(queue(one)).isSuspended = false"
    case .setWidth(let one, let width):
      return "\(queue(one)).maxConcurrentOperationCount = \(width)"
    case .drop(let one): return "\(operation(one)) = nil"
    case .dropQueue(let one): return "\(queue(one)) = nil"
    case .wait(let one): return "startThread { \(operation(one)).waitUntilFinished() }"
    case .waitForAll(let one):
      return "startThread { \(queue(one)).waitUntilAllOperationsAreFinished() }"
    }
  }
}
