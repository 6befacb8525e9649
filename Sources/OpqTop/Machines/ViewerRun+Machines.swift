// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import Dispatch
import MonitorClient

extension ViewerRun {
  /// Finds the processes of several targets. Any of the targets can be on another machine. All targets on the same
  /// machine use one link.
  ///
  /// - Parameter targets: The targets.
  /// - Returns: The processes, in the order of the targets.
  /// - Throws: ``AttachError`` for the first process that cannot be watched, ``RepeatedTarget`` if two targets are the
  ///   same process, or ``SignalRequest`` if a signal arrives first.
  func located(_ targets: [PlacedTarget]) throws -> [LocatedProcess] {
    // All links are opened before the first wait, so that the logins happen at the same time.
    var links: [RemotePlace: RelayLink] = [:]
    for place in targets.compactMap(\.place) where links[place] == nil {
      let arguments = targets.filter { $0.place == place }.map(\.relayArgument)
      links[place] = self.links.open(place, arguments)
    }
    var positions: [RemotePlace: Int] = [:]
    var processes: [LocatedProcess] = []
    for target in targets {
      let located = try target.naming {
        guard let place = target.place, let link = links[place] else {
          return LocatedProcess(path: try target.target.path())
        }
        let named = try self.targets(of: link)
        let position = positions[place, default: 0]
        positions[place] = position + 1
        return try process(target.target, at: position, of: named, link, place)
      }
      guard !processes.contains(where: { $0.id == located.id }) else {
        throw RepeatedTarget(target: target)
      }
      processes.append(located)
    }
    return processes
  }

  /// Returns the process of a target among those that the far side of a link has named.
  private func process(
    _ target: AttachTarget, at position: Int, of named: [RelayedTarget], _ link: RelayLink,
    _ place: RemotePlace
  ) throws -> LocatedProcess {
    // If the far side names all processes, their positions are not those of the targets.
    let found: RelayedTarget?
    switch target {
    case .process(let id): found = named.first { $0.processID == id }
    case .socket:
      try place.checkSelection(named)
      found = named.indices.contains(position) ? named[position] : nil
    }
    guard let found else { throw AttachError(.nothingThere, "there is no \(target)") }
    if let refusal = found.refusal { throw refusal }
    return LocatedProcess(found, through: link, to: place)
  }

  /// Finds a process that arguments of `opq-top relay` select on another machine.
  ///
  /// - Parameters:
  ///   - place: The machine.
  ///   - arguments: The arguments, which select one process.
  /// - Returns: The process.
  /// - Throws: ``AttachError`` if the process cannot be watched, or ``SignalRequest`` if a signal arrives first.
  func process(on place: RemotePlace, _ arguments: [String]) throws -> LocatedProcess {
    let link = links.open(place, arguments)
    return try place.naming {
      let named = try targets(of: link)
      try place.checkSelection(named)
      guard let only = named.first, named.count == 1 else {
        throw AttachError(
          .lost, "\(place.name) has named \(named.count) processes in place of the selected one")
      }
      if let refusal = only.refusal { throw refusal }
      return LocatedProcess(only, through: link, to: place)
    }
  }

  /// Finds the processes of the user that can be watched.
  ///
  /// - Parameter place: The machine; `nil` for this machine.
  /// - Returns: The processes, sorted by process id.
  /// - Throws: ``AttachError`` if the other machine cannot be reached, or ``SignalRequest`` if a signal arrives first.
  func find(on place: RemotePlace?) throws -> [ProcessFinder.Found] {
    guard let place else { return ProcessFinder.find() }
    let link = links.open(place, [])
    return try place.naming {
      _ = try targets(of: link)
      // The search blocks its thread, so it needs another thread. This one must react to signals.
      return try awaited { answer in
        DispatchQueue.global().async {
          answer(Result { () throws(AttachError) in try ProcessFinder.find(through: link) })
        }
      }
    }
  }

  /// Returns the only process that a search has found.
  ///
  /// - Parameters:
  ///   - found: The processes that listen.
  ///   - place: The machine on which they were found; `nil` for this machine.
  /// - Returns: The process.
  /// - Throws: ``AttachError`` if no process listens, or `ValidationError` if several do.
  static func only(
    of found: [ProcessFinder.Found], on place: RemotePlace?
  ) throws -> LocatedProcess {
    guard let only = found.first else {
      throw AttachError(.nothingThere, ProcessTable.emptyMessage(on: place))
    }
    guard found.count == 1 else {
      throw ValidationError(ProcessTable.choiceMessage(found, on: place))
    }
    return LocatedProcess(only, on: place)
  }

  /// Waits for the answer of the far side of a link.
  private func targets(of link: RelayLink) throws -> [RelayedTarget] {
    try awaited { link.whenGreeted($0) }
  }
}

extension RemotePlace {
  /// Checks that the far side names only processes that arguments select.
  ///
  /// A login can be limited to `opq-top relay` without arguments. Then the far side names all processes of the user, and
  /// only their ids select one of them.
  ///
  /// - Throws: ``AttachError`` if the far side names all processes.
  fileprivate func checkSelection(_ named: [RelayedTarget]) throws(AttachError) {
    guard named.contains(where: \.isFound) else { return }
    throw AttachError(
      .lost,
      "\(name) starts \"opq-top relay\" without arguments, so only a process id selects a process there"
    )
  }

  /// Calls a closure. If it throws an `AttachError`, adds the name of the place to the error's description, unless the
  /// description contains it.
  func naming<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as AttachError where !error.description.contains(name) {
      throw AttachError(error.kind, "\(name): \(error.description)")
    }
  }
}
