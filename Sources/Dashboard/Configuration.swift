// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import MonitorProtocol

extension Dashboard {
  /// What a dashboard is told once, when it is made.
  public struct Configuration: Sendable, Equatable {
    /// What is watched, such as `demo tiles`; empty for the process's own name. Unsanitised.
    public var title: String
    /// What to look at and which keys to press, shown for the first 20 s or until a key is pressed;
    /// empty for nothing.
    public var guidance: String
    /// Whether the viewer gives no commands, even to a process that takes them.
    public var isReadOnly: Bool
    /// Whether what is watched runs in this process, and ends with the dashboard.
    public var runsWorkload: Bool
    /// Whether `X` and a letter asks before it cancels, as `x` always does.
    public var asksBeforeCancellingByKey: Bool
    /// Which kinds of warnings are shown.
    public var warningKinds: Set<MonitorWarning.Kind>

    /// Creates a configuration; by default one that asks before everything, for a process of its own.
    public init(
      title: String = "", guidance: String = "", isReadOnly: Bool = false,
      runsWorkload: Bool = false, asksBeforeCancellingByKey: Bool = true,
      warningKinds: Set<MonitorWarning.Kind> = MonitorWarning.Kind.usual
    ) {
      self.title = title
      self.guidance = guidance
      self.isReadOnly = isReadOnly
      self.runsWorkload = runsWorkload
      self.asksBeforeCancellingByKey = asksBeforeCancellingByKey
      self.warningKinds = warningKinds
    }
  }
}
