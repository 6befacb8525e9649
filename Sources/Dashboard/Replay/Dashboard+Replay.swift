// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Dashboard {
  /// Updates the position of the recording, or notes that the source is no longer a recording.
  mutating func reduce(_ status: ReplayStatus?) {
    if let remark = status?.remark, remark != replay?.remark { show(remark, isWarning: true) }
    if let failure = status?.failure, failure != replay?.failure {
      show(failure.sentence, isWarning: true)
    }
    replay = status
    guard let status else {
      // The dashboard's state of the recording is removed, because the next greeting may come from the same
      // process as the recording.
      live = MonitoredState()
      if case .time = prompts.text?.purpose { prompts.text = nil }
      return
    }
    live.advance(to: status.time)
    if screen.view == .timeline { settle() }
  }

  /// Performs a replay action. Does nothing if the source is not a recording.
  mutating func perform(_ key: KeyAction.Replay) -> [Effect] {
    guard let replay else { return [] }
    guard let command = key.command else { return openTimePrompt() }
    let isAtEnd = replay.position >= replay.length
    switch key {
    case .stepForward, .toEnd: return isAtEnd ? [.bell] : [.replay(command)]
    case .togglePlaying, .slower, .faster, .stepBack, .seekBack, .seekForward, .seekFarBack,
      .seekFarForward, .toStart, .nextWarning, .previousWarning, .goToTime:
      return [.replay(command)]
    }
  }
}

extension KeyAction.Replay {
  /// The command for the replay that a key with this action sends; `nil` if the user first types a time.
  var command: ReplayCommand? {
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
    case .goToTime: nil
    }
  }
}
