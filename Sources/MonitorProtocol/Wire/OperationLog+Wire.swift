// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension WireOperationLog {
  init(_ log: OperationLog) {
    self.init()
    operation = log.operation.rawValue
    first = log.first
    lines = log.lines.map { WireLogLine($0) }
    mayBeDropped = log.mayBeDropped
  }
}

extension OperationLog {
  /// Creates a log from a message. If the message has too many lines, only the last ones are kept.
  init(_ wire: WireOperationLog) {
    let excess = max(0, wire.lines.count - Self.lineLimit)
    self.init(
      of: .init(wire.operation),
      first: min(wire.first, UInt64(WireLimits.largestCount)) + UInt64(excess),
      lines: wire.lines.dropFirst(excess).map { LogLine($0) }, mayBeDropped: wire.mayBeDropped)
  }
}

extension WireLogLine {
  init(_ line: LogLine) {
    self.init()
    time = line.time.nanoseconds
    level =
      switch line.level {
      case .trace: .trace
      case .debug: .debug
      case .info: .info
      case .notice: .notice
      case .warning: .warning
      case .error: .error
      case .critical: .critical
      }
    text = line.text.wireLogText
  }
}

extension LogLine {
  init(_ wire: WireLogLine) {
    let level: Level =
      switch wire.level {
      case .trace: .trace
      case .debug: .debug
      case .info, .unspecified, .UNRECOGNIZED: .info
      case .notice: .notice
      case .warning: .warning
      case .error: .error
      case .critical: .critical
      }
    self.init(time: MonitorTime(wire: wire.time), level: level, text: wire.text.wireLogText)
  }
}
