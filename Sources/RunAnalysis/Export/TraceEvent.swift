// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// One event in the format of Chrome's trace events. The properties have the names of the JSON keys in this
/// format.
struct TraceEvent: Encodable {
  /// The kind of a trace event.
  enum Phase: String, Encodable {
    case metadata = "M"
    /// An event that begins at a time and has a duration.
    case slice = "X"
    case counter = "C"
    case instant = "i"
    case flowStart = "s"
    case flowEnd = "f"
  }

  /// The value of an additional argument of an event.
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
  /// The time of the event in microseconds.
  var ts: Double?
  /// The duration of the event in microseconds.
  var dur: Double?
  let pid: Int
  let tid: Int
  /// The categories of the event, by which a viewer can filter events.
  var cat: String?
  /// The id of an arrow, which all events of the arrow share.
  var id: Int?
  /// The binding point of an arrow. It says that the arrow ends at the enclosing slice.
  var bp: String?
  /// The scope of an instant event.
  var s: String?
  var args: [String: Argument]?

  /// Creates an event at a time since the recording's beginning. A time since the machine's start could have
  /// more digits than a JSON number can hold.
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
