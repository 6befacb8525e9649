// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The positions of the columns in the list of processes, if the list has a given width.
struct PickerColumns: Sendable, Equatable {
  /// The column of the process id. The marks for the selected and for the watched row are to its left.
  let processID: Range<Int>
  /// The column of the program's name.
  let program: Range<Int>
  /// The column of the time since the process started. An optional column is `nil` if it has no room. If the
  /// column of remarks has no room, a remark replaces all columns after the program's name.
  let uptime: Range<Int>?
  let totalCount: Range<Int>?
  let mode: Range<Int>?
  let versions: Range<Int>?
  let remark: Range<Int>?

  private static let narrowestProgram = 10
  private static let widestProgram = 32

  /// Computes the positions of the columns. If there is not enough room, columns are left out in this order:
  /// remark, protocol, operations.
  ///
  /// `idWidth` is the length of the longest process id, and `remarkWidth` is the length of the longest
  /// remark.
  init(within columns: Range<Int>, idWidth: Int, remarkWidth: Int) {
    let processID = columns.lowerBound + 2..<columns.lowerBound + 2 + max(6, idWidth)
    self.processID = processID
    let start = processID.upperBound + 2
    // The width of each column includes the space to the left of the column.
    let uptimeWidth = 7
    let totalWidth = 7
    let modeWidth = 6
    let versionsWidth = 7
    var room =
      columns.upperBound - start - uptimeWidth - modeWidth - totalWidth - versionsWidth
      - remarkWidth - 2
    let hasRemark = room >= Self.narrowestProgram
    if !hasRemark { room += remarkWidth + 2 }
    let hasVersions = room >= Self.narrowestProgram
    if !hasVersions { room += versionsWidth }
    let hasTotal = room >= Self.narrowestProgram
    if !hasTotal { room += totalWidth }
    program = start..<start + max(0, min(room, Self.widestProgram))
    var next = program.upperBound
    func place(_ isThere: Bool, gap: Int, width: Int) -> Range<Int>? {
      guard isThere else { return nil }
      next += width
      return next - width + gap..<next
    }
    uptime = place(true, gap: 1, width: uptimeWidth)
    totalCount = place(hasTotal, gap: 1, width: totalWidth)
    mode = place(true, gap: 2, width: modeWidth)
    versions = place(hasVersions, gap: 2, width: versionsWidth)
    remark = hasRemark ? next + 2..<columns.upperBound : nil
  }
}
