// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CoreMetrics
import TestSupport
import Testing

/// A metrics system that tests can wait for. It has the last value of each gauge, the sum of each counter,
/// and the number of values of each timer.
final class WatchedMetrics: MetricsFactory {
  let values = Monitored<[String: Int64]>([:])
  private let probe: DeinitProbe?
  private let willReport: @Sendable (String) -> Void

  /// Creates a metrics system without values.
  ///
  /// - Parameters:
  ///   - probe: An object whose deallocation shows that the system was released.
  ///   - willReport: Called with the series before each change, on the thread that reports it.
  init(probe: DeinitProbe? = nil, willReport: @escaping @Sendable (String) -> Void = { _ in }) {
    self.probe = probe
    self.willReport = willReport
  }

  private final class Handler: CounterHandler, MeterHandler, RecorderHandler, TimerHandler {
    private let key: String
    private let values: Monitored<[String: Int64]>
    private let willReport: @Sendable (String) -> Void

    init(_ label: String, _ dimensions: [(String, String)], of metrics: WatchedMetrics) {
      key = WatchedMetrics.key(label, dimensions)
      values = metrics.values
      willReport = metrics.willReport
      values.change { $0[key] = 0 }
    }

    func increment(by amount: Int64) {
      willReport(key)
      values.change { $0[key, default: 0] += amount }
    }
    func increment(by amount: Double) { increment(by: Int64(amount)) }
    func decrement(by amount: Double) { increment(by: -amount) }
    func reset() { set(Int64(0)) }
    func set(_ value: Int64) {
      willReport(key)
      values.change { $0[key] = value }
    }
    func set(_ value: Double) { set(Int64(value)) }
    func record(_ value: Int64) { set(value) }
    func record(_ value: Double) { set(value) }
    func recordNanoseconds(_ duration: Int64) { increment(by: Int64(1)) }
    func destroy() {
      willReport(key)
      values.change { $0[key] = nil }
    }
  }

  /// Returns a key such as `name{queue="a",state="ready"}`.
  static func key(_ label: String, _ dimensions: [(String, String)]) -> String {
    let pairs = dimensions.map { "\($0.0)=\"\($0.1)\"" }
    return pairs.isEmpty ? label : "\(label){\(pairs.joined(separator: ","))}"
  }

  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    Handler(label, dimensions, of: self)
  }

  func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    Handler(label, dimensions, of: self)
  }

  func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    Handler(label, dimensions, of: self)
  }

  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    Handler(label, dimensions, of: self)
  }

  func destroyCounter(_ handler: any CounterHandler) { (handler as? Handler)?.destroy() }
  func destroyMeter(_ handler: any MeterHandler) { (handler as? Handler)?.destroy() }
  func destroyRecorder(_ handler: any RecorderHandler) { (handler as? Handler)?.destroy() }
  func destroyTimer(_ handler: any TimerHandler) { (handler as? Handler)?.destroy() }

  /// Waits until a series has a certain value. If the value is `nil`, waits until the series no
  /// longer exists.
  @discardableResult
  func wait(
    for key: String, toBe value: Int64?, at location: SourceLocation = #_sourceLocation
  ) -> Bool {
    values.wait(for: "\(key) to be \(value.map { "\($0)" } ?? "gone")", at: location) {
      $0[key] == value
    }
  }
}
