// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension ShimFiles {
  /// Returns how a command has ended that no operation has awaited.
  ///
  /// - Parameters:
  ///   - name: The name of the command.
  ///   - status: The exit status that the shim has written.
  /// - Returns: The error, which is `nil` if the status is 0, and the last line of the output as a status of an
  ///   operation, which is `nil` if there is none.
  package func end(
    ofCommand name: String, status: Int32
  ) -> (error: CommandError?, lastLine: String?) {
    var tail = FileTail(path: log, from: 0)
    let lastLine = tail.advance(isLast: true).last(where: CommandReport.isStatus)
      .map { CommandReport.status(of: $0) }
    var error = CommandError(shellStatus: status, name)
    error?.lastLine = lastLine
    return (error, lastLine)
  }
}
