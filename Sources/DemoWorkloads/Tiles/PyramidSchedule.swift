// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Decides when the operations of tile pyramids and posters are added. The schedule is a value type with one function for
/// each event. Each function returns the next actions.
///
/// A tile pyramid is built when all operations that compute, merge, write and index it have finished. It is
/// complete when its uploads have finished too. At most two pyramids are being built at a time. If a user
/// suspends `net`, built pyramids wait for the network. While two pyramids wait for the network, new pyramids
/// get no uploads, so that the demo continues with a limited number of operations.
///
/// Posters are rendered in series. A series renders one poster after the other.
struct PyramidSchedule: Equatable, Sendable {
  enum Action: Equatable, Sendable {
    /// The workload must add the operations of the tile pyramid with this number. The uploads are included
    /// only if `isUploaded` is `true`.
    case launch(number: Int, isUploaded: Bool)
    /// Add the operation that renders this poster of a series.
    case render(poster: Int, series: Int)
    /// Remove the files of this pyramid.
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
  private let posterSeriesCount: Int
  private var lastPoster = 0
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
  ///   - posterSeriesCount: The number of series of posters: the number of posters that are rendered at the
  ///     same time.
  init(isOnce: Bool, isTemporary: Bool, posterSeriesCount: Int = 0) {
    self.isOnce = isOnce
    self.isTemporary = isTemporary
    self.posterSeriesCount = posterSeriesCount
  }

  /// Returns the first actions of the demo. A second call returns no actions.
  ///
  /// The actions that render posters come before the actions that build tile pyramids, so that the posters are
  /// rendered first.
  mutating func start() -> [Action] {
    guard lastNumber == 0 else { return [] }
    var actions: [Action] = []
    for series in 0..<posterSeriesCount { actions += posterEnded(inSeries: series) }
    return actions + launches()
  }

  /// Returns the next actions after the operation of a poster has finished or was cancelled.
  mutating func posterEnded(inSeries series: Int) -> [Action] {
    lastPoster += 1
    return [.render(poster: lastPoster, series: series)]
  }

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
