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
      live = Workload()
      return
    }
    live.advance(to: status.time)
    if view == .timeline { settle() }
  }

  /// Does what a key of a recording says; `nil` for every other one.
  func performInReplay(_ action: KeyAction) -> [Effect]? {
    guard let replay else { return nil }
    let command: ReplayCommand
    switch action {
    case .togglePlaying: command = .togglePlaying
    case .playFaster: command = .changeSpeed(by: 1)
    case .playSlower: command = .changeSpeed(by: -1)
    case .stepForward: command = .step(1)
    case .stepBack: command = .step(-1)
    case .seekForward: command = .seek(by: .seconds(5))
    case .seekBack: command = .seek(by: .seconds(-5))
    case .seekFarForward: command = .seek(by: .seconds(60))
    case .seekFarBack: command = .seek(by: .seconds(-60))
    case .seekToStart: command = .seekToStart
    case .seekToEnd: command = .seekToEnd
    case .nextWarning: command = .nextWarning
    case .previousWarning: command = .previousWarning
    default: return nil
    }
    let isAtEnd = replay.position >= replay.length
    switch command {
    case .step(1) where isAtEnd, .seekToEnd where isAtEnd, .nextWarning where isAtEnd:
      return [.bell]
    default: return [.replay(command)]
    }
  }
}
