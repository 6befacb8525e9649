// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// One event of a trace, with the short names of the format.
struct TraceEvent: Encodable {
  /// The kind of the event.
  enum Phase: String, Encodable {
    case metadata = "M"
    /// From a time on, for a duration.
    case slice = "X"
    case counter = "C"
    case instant = "i"
    case flowStart = "s"
    case flowEnd = "f"
  }

  /// An additional value of an event.
  enum Argument: Encodable {
    case text(String)
    case number(Int)
    case real(Double)

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .text(let text): try container.encode(text)
      case .number(let number): try container.encode(number)
      case .real(let number): try container.encode(number)
      }
    }
  }

  let ph: Phase
  let name: String
  /// Microseconds.
  var ts: Double?
  /// Microseconds.
  var dur: Double?
  let pid: Int
  let tid: Int
  /// The categories by which it can be filtered.
  var cat: String?
  /// Identifies the events of one arrow.
  var id: Int?
  /// The binding point of an arrow: the slice that it points into.
  var bp: String?
  /// The scope of an instant.
  var s: String?
  var args: [String: Argument]?

  /// Creates an event at a time since the beginning. A time since the machine's start has more digits than a
  /// number of JSON can hold.
  init(_ phase: Phase, _ name: String, at time: Duration, in process: Int, _ thread: Int) {
    self.init(phase, name, process, thread)
    ts = time.microseconds
  }

  private init(_ phase: Phase, _ name: String, _ process: Int, _ thread: Int) {
    (ph, self.name, pid, tid) = (phase, name, process, thread)
  }

  static func processName(_ name: String, of process: Int) -> TraceEvent {
    var event = TraceEvent(.metadata, "process_name", process, 0)
    event.args = ["name": .text(name)]
    return event
  }

  static func threadName(_ name: String, of process: Int, _ thread: Int) -> TraceEvent {
    var event = TraceEvent(.metadata, "thread_name", process, thread)
    event.args = ["name": .text(name)]
    return event
  }
}

extension Duration {
  /// The duration in microseconds.
  var microseconds: Double { Double(saturatedNanoseconds) / 1_000 }
}
