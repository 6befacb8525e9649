// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The ready operations of a queue, in six first-in, first-out lists, which are called bands. Each
/// of the five priorities has a band. The first band contains cancelled operations, which are only
/// retired.
struct ReadyBands {
  /// The index of the band (list of ready operations) that contains the cancelled operations.
  static let cancelled: UInt8 = 0

  /// Returns the index of the band (list of ready operations) for a priority. The index of the
  /// priority is 0 for the highest to 4 for the lowest.
  static func band(priorityIndex: Int) -> UInt8 { UInt8(priorityIndex + 1) }

  private var bands: [6 of OperationList<BandLinks>] = .init(repeating: OperationList())
  /// The bands, which are lists of ready operations, that are not empty: bit `n` is set if band `n`
  /// contains operations.
  private var occupied: UInt8 = 0

  var isEmpty: Bool { occupied == 0 }

  /// Whether a cancelled operation is ready.
  var hasCancelled: Bool { occupied & 1 << Self.cancelled != 0 }

  /// Returns the operation to start next; `nil` if no operation is ready.
  ///
  /// The method is mutating, because a getter would copy all bands to read one of them.
  @inline(__always)
  mutating func firstInPlace() -> Unmanaged<Operation>? {
    occupied == 0 ? nil : bands.mutableSpan[occupied.trailingZeroBitCount].first
  }

  /// Calls `body` with each ready operation, in the order in which they start, until `body` returns
  /// `false`.
  ///
  /// - Returns: Whether `body` always returned `true`.
  func forEach(_ body: (Unmanaged<Operation>) -> Bool) -> Bool {
    for band in bands.indices {
      var current = bands[band].first
      while let operation = current {
        guard body(operation) else { return false }
        current = bands[band].after(operation)
      }
    }
    return true
  }

  /// Adds an operation at the end of a band, which is a list of ready operations of one priority.
  ///
  /// - Precondition: No band contains the operation.
  mutating func append(_ operation: Unmanaged<Operation>, to band: UInt8) {
    bands[Int(band)].append(operation)
    occupied |= 1 << band
  }

  /// Removes an operation from its band, which is a list of ready operations of one priority.
  ///
  /// - Precondition: This band contains the operation.
  mutating func remove(_ operation: Unmanaged<Operation>, from band: UInt8) {
    bands[Int(band)].remove(operation)
    if bands[Int(band)].isEmpty { occupied &= ~(1 << band) }
  }
}
