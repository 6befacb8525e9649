// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The dependency graph in the format of Graphviz. An arrow leads from a dependency to its dependent. The
/// critical path is bold, and operations that were not recorded are dashed.
struct DependencyGraphDOT: RunExport {
  private let run: ExportedRun

  /// For each operation of the critical path, the operation before it on the path.
  private let criticalEdges: [OperationReport.ID: OperationReport.ID]

  init(_ run: ExportedRun) {
    self.run = run
    let path = run.path?.operations ?? []
    criticalEdges = Dictionary(uniqueKeysWithValues: zip(path.dropFirst(), path))
  }

  func write<Failure: Error>(to output: (String) throws(Failure) -> Void) throws(Failure) {
    let hello = run.history.hello
    try output(
      """
      digraph operations {
        label=\(Self.quoted("\(hello.processName)[\(hello.processID)]"));
        rankdir=LR;
        node [shape=box, style="rounded,filled", fontname="sans-serif", fillcolor="white"];

      """)
    for report in run.operations { try output(node(report)) }
    var unknown: Set<OperationReport.ID> = []
    for report in run.operations {
      for dependency in Set(report.dependencies).sorted() {
        let isKnown = run.history.operations[dependency] != nil
        // A dependency that does not match the filter has no node and no arrow. A dependency that was not
        // recorded has a dashed node that shows only its id.
        guard run.ids.contains(dependency) || !isKnown else { continue }
        if !isKnown, unknown.insert(dependency).inserted {
          try output(
            "  \(dependency.rawValue) [label=\"\(dependency)\\nnot recorded\", style=\"dashed\"];\n"
          )
        }
        try output(edge(from: dependency, to: report.id))
      }
    }
    try output("}\n")
  }

  /// The maximum number of characters of the text of an error or of a cancellation in a node.
  private static let errorLength = 80

  private func node(_ report: OperationReport) -> String {
    let facts = [report.kind, report.state.rawValue, report.work.map(TimeText.duration)]
    var lines = ["\(report.id) \(report.title)", facts.compactMap { $0 }.joined(separator: " · ")]
    lines += [report.errorText, run.cancellations[report.id]].compactMap { text in
      text.map { String($0.prefix(Self.errorLength)) }
    }
    let isCritical = run.pathOperations.contains(report.id)
    let style = isCritical ? ", penwidth=3, color=\"#b3261e\"" : ""
    let label = lines.map(Self.escaped).joined(separator: "\\n")
    return
      "  \(report.id.rawValue) [label=\"\(label)\", fillcolor=\"\(report.state.fill)\"\(style)];\n"
  }

  private func edge(from dependency: OperationReport.ID, to dependent: OperationReport.ID) -> String
  {
    let style = criticalEdges[dependent] == dependency ? " [penwidth=3, color=\"#b3261e\"]" : ""
    return "  \(dependency.rawValue) -> \(dependent.rawValue)\(style);\n"
  }

  private static func quoted(_ text: String) -> String { "\"\(escaped(text))\"" }

  /// Escapes a text so that it neither ends a string nor contains an entity. Characters that control a
  /// terminal are escaped before this call, and the backslashes of those escapes are shown.
  private static func escaped(_ text: String) -> String {
    EscapedText.escaped(text).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      .replacing("&", with: "&amp;")
  }
}

extension OperationState {
  /// The fill color of an operation's node.
  fileprivate var fill: String {
    switch self {
    case .waiting: "#eeeeee"
    case .ready: "#cfe8fc"
    case .held, .cancelling: "#fff3c4"
    case .executing: "#c8e6c9"
    case .finished: "#ffffff"
    case .failed: "#ffcdd2"
    case .cancelled: "#f3d1f4"
    }
  }
}
