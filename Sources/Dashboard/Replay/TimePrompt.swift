// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Dashboard {
  /// The minimum width of a screen with room for the long remarks after the typed time.
  private static let longRemarkThreshold = 70

  /// Opens the prompt for the time of the recording to show.
  mutating func openTimePrompt() -> [Effect] {
    guard replay != nil else { return [.bell] }
    prompts.text = TextPrompt(.time)
    return []
  }

  /// Goes to the time that the user has typed, and closes the prompt. If the text is not a time of the recording, the
  /// prompt stays open.
  mutating func acceptTime(_ text: String) -> [Effect] {
    guard let replay else {
      prompts.text = nil
      return []
    }
    guard let position = TypedTime(text)?.position(in: replay, hello: live.hello) else {
      return [.bell]
    }
    prompts.text = nil
    return [.replay(.go(to: position))]
  }

  /// Returns the remark after the typed time; `nil` for the usual remark about the keys that close the prompt. If the
  /// text is not a time of the recording, the remark contains the times of the recording.
  func timeRemark(_ glyphs: Glyphs) -> (text: String, role: Role)? {
    guard let replay, let text = prompts.text?.text else { return nil }
    let isLong = screen.size.columns >= Self.longRemarkThreshold
    let range = "\(ReplayStatus.clock(.zero)) to \(ReplayStatus.clock(replay.length))"
    guard text.contains(where: { $0 != " " }) else {
      return (isLong ? "\(range), for example 1:30, 90s, +10s or 50%" : range, .dim)
    }
    guard let typed = TypedTime(text) else {
      return (isLong ? "type a time from \(range)" : range, .warning)
    }
    guard let position = typed.position(in: replay, hello: live.hello) else {
      let times = isTimeOfDay(typed, in: replay) ? timesOfDay(of: replay) ?? range : range
      return (isLong ? "the recording covers \(times)" : times, .warning)
    }
    let time = timeOfDay(at: position, of: replay).map { " at \($0)" } ?? ""
    let target = ReplayStatus.clock(position) + time
    let keys = " \(glyphs.dot) Enter go \(glyphs.dot) Esc discard"
    return (isLong ? target + keys : target, .dim)
  }

  /// Returns whether a typed time can only be a time of day.
  private func isTimeOfDay(_ typed: TypedTime, in status: ReplayStatus) -> Bool {
    if case .clock(let duration) = typed { duration > status.length } else { false }
  }

  /// The times of day of the beginning and the end of a recording; `nil` if they are unknown.
  private func timesOfDay(of status: ReplayStatus) -> String? {
    guard let start = timeOfDay(at: .zero, of: status),
      let end = timeOfDay(at: status.length, of: status)
    else { return nil }
    return "\(start) to \(end)"
  }

  private func timeOfDay(at position: Duration, of status: ReplayStatus) -> String? {
    let moment = status.time - status.position + position
    guard let hello = live.hello, TimeText.nanosecondsOfDay(moment, of: hello) != nil else {
      return nil
    }
    return TimeText.timeOfDay(moment, of: hello)
  }
}
