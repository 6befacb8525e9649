// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A time of a recording as the user types it, for example `90`, `1:30`, `1m30s`, `+10s`, `50%` or `14:05:09`.
enum TypedTime: Sendable, Equatable {
  /// The time since the beginning of the recording.
  case position(Duration)
  /// The time since the shown moment. It is negative for an earlier moment.
  case change(Duration)
  /// The share of the recording, from 0 on. The share 1 is the end.
  case share(Double)
  /// A text with hours, minutes and seconds. If the recording is long enough, the text is a time since the beginning.
  /// Otherwise it is a time of day in UTC.
  case clock(Duration)

  /// The largest number of seconds that a typed time may have: a hundred years. Arithmetic with such times does not
  /// overflow.
  private static let mostSeconds = 3_155_760_000.0

  /// Parses a text; `nil` if it is not a time. Spaces have no meaning.
  init?(_ text: String) {
    let text = text.filter { $0 != " " }.lowercased()[...]
    if let sign = text.first, sign == "+" || sign == "-" {
      let rest = text.dropFirst()
      guard let duration = Self.parts(rest)?.duration ?? Self.units(rest) else { return nil }
      self = .change(sign == "-" ? .zero - duration : duration)
    } else if text.last == "%" {
      guard let percent = Self.number(text.dropLast()) else { return nil }
      self = .share(percent / 100)
    } else if let parts = Self.parts(text) {
      self = parts.count == 3 ? .clock(parts.duration) : .position(parts.duration)
    } else {
      guard let duration = Self.units(text) else { return nil }
      self = .position(duration)
    }
  }

  /// Returns the time since the beginning of a recording; `nil` if the recording does not contain the typed time.
  /// `hello` is the greeting of the recorded process.
  func position(in status: ReplayStatus, hello: Hello?) -> Duration? {
    let position: Duration?
    switch self {
    case .position(let duration): position = duration
    case .change(let duration): position = status.position + duration
    case .share(let share): position = share == 1 ? status.length : status.length * share
    case .clock(let duration) where duration <= status.length: position = duration
    case .clock(let timeOfDay):
      position = hello.flatMap { Self.position(at: timeOfDay, in: status, hello: $0) }
    }
    return position.flatMap { $0 >= .zero && $0 <= status.length ? $0 : nil }
  }

  /// Returns the first moment with a time of day after the shown moment, or else the first one of the recording; `nil`
  /// if the times of day of the recording are unknown.
  private static func position(
    at timeOfDay: Duration, in status: ReplayStatus, hello: Hello
  ) -> Duration? {
    let day = Duration.seconds(86_400)
    guard timeOfDay < day,
      let start = TimeText.nanosecondsOfDay(status.time - status.position, of: hello)
    else { return nil }
    var first = timeOfDay - .nanoseconds(start)
    // The screen shows whole seconds. The first second of the recording may have begun before the recording.
    if first > .seconds(-1), first < .zero { first = .zero }
    if first < .zero { first += day }
    guard first <= status.position else { return first }
    let days = (status.position - first).components.seconds / day.components.seconds + 1
    let next = first + day * Int(days)
    return next <= status.length ? next : first
  }

  // MARK: Texts

  /// Parses minutes and seconds, or hours, minutes and seconds, with a colon between two parts. The last part may be
  /// a decimal number.
  private static func parts(_ text: Substring) -> (count: Int, duration: Duration)? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count) else { return nil }
    var seconds = 0.0
    for (index, part) in parts.enumerated() {
      let isLast = index == parts.count - 1
      guard let number = number(part), isLast || !part.contains("."), index == 0 || number < 60
      else { return nil }
      seconds = seconds * 60 + number
    }
    return duration(seconds).map { (parts.count, $0) }
  }

  /// The units and their seconds, the longest first.
  private static let units: [(name: String, seconds: Double)] = [
    ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1), ("ms", 0.001),
  ]

  /// Parses numbers with units, the longest unit first, such as `1h30m`. A single number without a unit is a number of
  /// seconds.
  private static func units(_ text: Substring) -> Duration? {
    if let number = number(text) { return duration(number) }
    var (rest, seconds) = (text, 0.0)
    var allowed = units[...]
    while !rest.isEmpty {
      let digits = rest.prefix { isPartOfNumber($0) }
      let name = rest.dropFirst(digits.count).prefix { !isPartOfNumber($0) }
      guard let number = number(digits), let index = allowed.firstIndex(where: { $0.name == name })
      else { return nil }
      seconds += number * allowed[index].seconds
      allowed = allowed[(index + 1)...]
      rest = rest.dropFirst(digits.count + name.count)
    }
    return text.isEmpty ? nil : duration(seconds)
  }

  private static func duration(_ seconds: Double) -> Duration? {
    seconds <= mostSeconds ? .seconds(seconds) : nil
  }

  /// Parses a decimal number without a sign. The initializer of `Double` also accepts words such as "nan" and
  /// hexadecimal numbers, so the characters are checked first.
  private static func number(_ text: Substring) -> Double? {
    guard text.first.map({ $0 != "." }) == true, text.allSatisfy({ isPartOfNumber($0) }),
      let number = Double(text), number <= mostSeconds
    else { return nil }
    return number
  }

  private static func isPartOfNumber(_ character: Character) -> Bool {
    "0123456789.".contains(character)
  }
}
