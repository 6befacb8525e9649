// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Decides when the operations of tile pyramids are added. The schedule is a value type with one function for
/// each event. Each function returns the next actions.
///
/// A tile pyramid is built when all operations that compute, merge, write and index it have finished. It is
/// complete when its uploads have finished too. At most two pyramids are being built at a time. If a user
/// suspends `net`, built pyramids wait for the network. While two pyramids wait for the network, new pyramids
/// get no uploads, so that the demo continues with a limited number of operations.
struct PyramidSchedule: Equatable, Sendable {
  enum Action: Equatable, Sendable {
    /// The workload must add the operations of the tile pyramid with this number. The uploads are included
    /// only if `isUploaded` is `true`.
    case launch(number: Int, isUploaded: Bool)
    /// The workload must remove the files of the tile pyramid with this number.
    case remove(number: Int)
    /// The workload, which runs only once (`isOnce`), has finished.
    case finish
  }

  /// The maximum number of tile pyramids that are built at the same time. While the same number of built
  /// pyramids wait for the network, new pyramids get no uploads. The temporary files of at most the same
  /// number of complete pyramids are kept.
  static let limit = 2

  private let isOnce: Bool
  private let isTemporary: Bool
  private var lastNumber = 0
  private var building: Set<Int> = []
  private var uploading: Set<Int> = []
  /// The complete tile pyramids whose files still exist, the oldest first.
  private var over: [Int] = []

  /// Creates a schedule for a workload that has not started.
  ///
  /// - Parameters:
  ///   - isOnce: Whether the workload ends after one pyramid.
  ///   - isTemporary: Whether the files of old tile pyramids have to be removed.
  init(isOnce: Bool, isTemporary: Bool) {
    self.isOnce = isOnce
    self.isTemporary = isTemporary
  }

  /// Returns the first actions. A second call returns no actions.
  mutating func start() -> [Action] { lastNumber == 0 ? launches() : [] }

  /// Returns the next actions after all operations that build a tile pyramid have finished.
  mutating func built(_ number: Int) -> [Action] {
    building.remove(number)
    let endings = endings(of: number)
    return endings + launches()
  }

  /// Returns the next actions after all operations that upload a tile pyramid have finished.
  mutating func uploaded(_ number: Int) -> [Action] {
    uploading.remove(number)
    return endings(of: number)
  }

  private mutating func launches() -> [Action] {
    var actions: [Action] = []
    while building.count < Self.limit, !isOnce || lastNumber == 0 {
      lastNumber += 1
      building.insert(lastNumber)
      let isUploaded = uploading.subtracting(building).count < Self.limit
      if isUploaded { uploading.insert(lastNumber) }
      actions.append(.launch(number: lastNumber, isUploaded: isUploaded))
    }
    return actions
  }

  private mutating func endings(of number: Int) -> [Action] {
    guard !building.contains(number), !uploading.contains(number) else { return [] }
    guard !isOnce else { return [.finish] }
    guard isTemporary else { return [] }
    over.append(number)
    return over.count > Self.limit ? [.remove(number: over.removeFirst())] : []
  }
}
