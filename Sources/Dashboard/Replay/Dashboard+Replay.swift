// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Dashboard {
  /// Takes in where the recording is.
  mutating func reduce(_ status: ReplayStatus?) {
    if let remark = status?.remark, remark != replay?.remark { show(remark, isWarning: true) }
    replay = status
    guard let status else {
      // Who greets now may be the process that was recorded.
      live = MonitoredState()
      return
    }
    live.advance(to: status.time)
    if screen.view == .timeline { settle() }
  }

  /// Does what a key of a recording says; nothing if none is played.
  func perform(_ key: KeyAction.Replay) -> [Effect] {
    guard let replay else { return [] }
    let isAtEnd = replay.position >= replay.length
    switch key {
    case .stepForward, .toEnd, .nextWarning: return isAtEnd ? [.bell] : [.replay(key.command)]
    case .togglePlaying, .slower, .faster, .stepBack, .seekBack, .seekForward, .seekFarBack,
      .seekFarForward, .toStart, .previousWarning:
      return [.replay(key.command)]
    }
  }
}

extension KeyAction.Replay {
  /// What the program has to do with the recording.
  var command: ReplayCommand {
    switch self {
    case .togglePlaying: .togglePlaying
    case .faster: .changeSpeed(by: 1)
    case .slower: .changeSpeed(by: -1)
    case .stepForward: .step(1)
    case .stepBack: .step(-1)
    case .seekForward: .seek(by: .seconds(5))
    case .seekBack: .seek(by: .seconds(-5))
    case .seekFarForward: .seek(by: .seconds(60))
    case .seekFarBack: .seek(by: .seconds(-60))
    case .toStart: .seekToStart
    case .toEnd: .seekToEnd
    case .nextWarning: .nextWarning
    case .previousWarning: .previousWarning
    }
  }
}
