// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The limit of a queue's starts that a user has typed: `5/s`, `100/min`, `3/10s`, or `off` for no limit.
struct TypedStartLimit: Sendable, Equatable {
  /// The limit; `nil` for no limit.
  let limit: QueueReport.StartLimit?

  /// The reason why a typed text is not a limit.
  enum Fault: Error, Equatable {
    /// The text has another form.
    case form
    /// The number of starts is outside the bounds of a command.
    case count
    /// The period is outside the bounds of a command.
    case period

    /// What the user has to type instead.
    var remark: String {
      switch self {
      case .form: "type a limit such as 5/s, or off"
      case .count: "type 1 to 1,000,000 starts"
      case .period: "type a period from 1ms to 365d"
      }
    }
  }

  /// Reads a typed text. Spaces at both ends are ignored.
  init(_ text: String) throws(Fault) {
    let text = String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()).lowercased()
    if text == "off" {
      limit = nil
      return
    }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty,
      parts[0].allSatisfy({ ("0"..."9").contains($0) }), let period = Self.seconds(parts[1])
    else { throw .form }
    guard let count = Int(parts[0]), 1...WireLimits.mostStartsInPeriod ~= count else {
      throw .count
    }
    guard 0.001...Self.longestPeriod ~= period else { throw .period }
    limit = QueueReport.StartLimit(count: count, periodSeconds: period)
  }

  /// The units of a period, in seconds.
  private static let units: [String: Double] = [
    "ms": 0.001, "s": 1, "min": 60, "m": 60, "h": 3_600, "d": 86_400,
  ]
  /// The longest period that a command can set, in seconds.
  private static let longestPeriod = WireLimits.longestStartPeriod / .seconds(1)

  /// Returns a period such as `s`, `10s`, `2.5s` or `1m40s`, in seconds; `nil` if the text is not a period.
  private static func seconds(_ text: Substring) -> Double? {
    if let unit = units[String(text)] { return unit }
    if text.isEmpty { return nil }
    var rest = text
    var sum = 0.0
    while !rest.isEmpty {
      let number = rest.prefix { ("0"..."9").contains($0) || $0 == "." }
      let unit = rest.dropFirst(number.count).prefix { $0.isLetter }
      guard let value = Double(number), let factor = units[String(unit)] else { return nil }
      sum += value * factor
      rest = rest.dropFirst(number.count + unit.count)
    }
    return sum
  }
}

extension Dashboard {
  /// Opens the prompt for the limit of a queue's starts. The prompt contains the present limit.
  mutating func openRatePrompt(for queue: QueueReport) -> [Effect] {
    prompts.text = TextPrompt(.rate(queue.id), text: presentStartLimit(of: queue.id)?.text ?? "")
    return []
  }

  /// The limit that was last requested for a queue, or otherwise the limit that the queue has.
  private func presentStartLimit(of id: QueueReport.ID) -> QueueReport.StartLimit? {
    queueRequests.startLimits[id] ?? live.queue(id)?.startLimit
  }

  /// Requests the limit of starts that the user has typed, and closes the prompt. If the text is not a limit, the
  /// prompt stays open. Unless the queue belongs to the bundled demo, asks the user first.
  mutating func acceptRate(_ text: String, of id: QueueReport.ID) -> [Effect] {
    let present = presentStartLimit(of: id)
    // The text of the present limit may be rounded, so that it is not read again.
    let isUnchanged = text == prompts.text?.initialText
    let typed = try? TypedStartLimit(text)
    guard isUnchanged || typed != nil else { return [.bell] }
    let wanted = isUnchanged ? present : typed?.limit
    prompts.text = nil
    guard let queue = live.queue(id), !live.hasEnded(queue) else {
      show("the queue no longer exists", isWarning: true)
      return [.bell]
    }
    guard !refuses([id]) else { return [.bell] }
    guard wanted != present else {
      show("queue \(queue.name): \(Self.words(for: wanted)), as before")
      return []
    }
    if connection.source == .demo { return request(wanted, of: id) }
    prompts.question = Question(.setStartLimit(id, wanted), about: [])
    return []
  }

  /// Requests that the starts of a queue are limited, or that the limit is removed.
  mutating func request(_ limit: QueueReport.StartLimit?, of id: QueueReport.ID) -> [Effect] {
    queueRequests.startLimits.note(limit, of: id)
    return [.send(.setStartLimit(id, limit))]
  }

  /// Returns the words for a limit in a sentence about a queue.
  static func words(for limit: QueueReport.StartLimit?) -> String {
    limit.map { "limit of starts \($0.text)" } ?? "no limit of starts"
  }

  /// Returns the text before the typed limit of a queue, such as `limit of starts of cpu: `. On a screen with few
  /// columns, it leaves half of them for the typed text.
  func rateLabel(of id: QueueReport.ID, columns: Int, _ glyphs: Glyphs) -> String {
    let words = columns < 80 ? "limit of " : "limit of starts of "
    let room = max(4, columns / 2 - words.utf8.count - 4)
    return "\(words)\(glyphs.clipped(shown.queue(id)?.label ?? "", to: min(20, room))): "
  }

  /// The remark after the typed limit; `nil` for the usual remark about the keys that close the prompt.
  var rateRemark: (text: String, role: Role)? {
    guard let prompt = prompts.text, case .rate = prompt.purpose else { return nil }
    if prompt.text.isEmpty { return ("for example 5/s, 100/min or off", .dim) }
    if prompt.text == prompt.initialText { return nil }
    do throws(TypedStartLimit.Fault) {
      _ = try TypedStartLimit(prompt.text)
      return nil
    } catch {
      return (error.remark, .warning)
    }
  }
}
