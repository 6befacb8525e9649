// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Decides when pyramids arrive, as a value: what has happened leads to what must be done.
///
/// A pyramid is built when all that computes, merges, writes and indexes it has finished, and over
/// when its uploads are, too. At most two pyramids are unbuilt at a time. While two that are built
/// wait for the network, because somebody suspended `net`, those that arrive go without uploads, so
/// that the demo neither stands still nor fills up.
struct PyramidSchedule: Equatable, Sendable {
  enum Action: Equatable, Sendable {
    /// Add the operations of this pyramid, with or without those that upload it.
    case launch(number: Int, isUploaded: Bool)
    /// The files of this pyramid are no longer wanted.
    case remove(number: Int)
    /// The only pyramid is over.
    case finish
  }

  /// How many pyramids are being built, how many built ones wait for the network before others go
  /// without, and how many stay on disk when they are over.
  static let limit = 2

  private let isOnce: Bool
  private let isTemporary: Bool
  private var lastNumber = 0
  private var building: Set<Int> = []
  private var uploading: Set<Int> = []
  /// The pyramids whose files are still there though nobody needs them; oldest first.
  private var over: [Int] = []

  /// - Parameters:
  ///   - isOnce: Whether one pyramid is all.
  ///   - isTemporary: Whether the files of old pyramids are removed.
  init(isOnce: Bool, isTemporary: Bool) {
    self.isOnce = isOnce
    self.isTemporary = isTemporary
  }

  /// The workload starts; a second time changes nothing.
  mutating func start() -> [Action] { lastNumber == 0 ? launches() : [] }

  /// All that builds a pyramid has finished.
  mutating func built(_ number: Int) -> [Action] {
    building.remove(number)
    let endings = endings(of: number)
    return endings + launches()
  }

  /// All that uploads a pyramid has finished.
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
