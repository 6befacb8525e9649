// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension TargetOptions {
  /// Where the socket is of the process that is asked for, by these options or by an argument.
  ///
  /// - Throws: ``AttachError`` where there is none, or ``ViewerRun/SignalRequest`` where a signal comes
  ///   while it waits for one.
  func path(_ target: AttachTarget?, _ run: ViewerRun) throws -> String {
    if let process = wait { return try run.waitForSocket(of: process) }
    if let path = socket { return path }
    guard let target = target ?? pid.map({ .process($0) }) else {
      throw AttachError(.nothingThere, ProcessTable.emptyMessage)
    }
    return try target.path()
  }

  /// What is said where there are several processes and none is named.
  static func choiceMessage(_ found: [ProcessFinder.Found]) -> String {
    let ids = found.map { "\($0.processID)" }.joined(separator: ", ")
    return "several processes listen; name one of them with -p: \(ids)"
  }
}
