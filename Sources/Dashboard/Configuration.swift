// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import MonitorProtocol

extension Dashboard {
  /// What a dashboard is told once, when it is made.
  public struct Configuration: Sendable, Equatable {
    /// What is watched at first; `nil` where the user has yet to choose, for which the picker is open
    /// at first.
    public var source: Source?
    /// What the demo is called, such as `tiles`; empty for the process's own name. Another process is
    /// always called by its own. Unsanitised.
    public var title: String
    /// What to look at in the demo and which keys to press, shown for the first 20 s or until a key is
    /// pressed; empty for nothing.
    public var guidance: String
    /// Whether the viewer gives no commands, even to a process that takes them.
    public var isReadOnly: Bool
    /// Whether `X` and a letter asks before it cancels in the demo. Elsewhere it asks as `x` does.
    public var asksBeforeCancellingByKey: Bool
    /// Which kinds of warnings are shown.
    public var warningKinds: Set<MonitorWarning.Kind>

    /// Creates a configuration; by default one for the demo that asks before everything.
    public init(
      source: Source? = .demo, title: String = "", guidance: String = "", isReadOnly: Bool = false,
      asksBeforeCancellingByKey: Bool = true,
      warningKinds: Set<MonitorWarning.Kind> = MonitorWarning.Kind.usual
    ) {
      self.source = source
      self.title = title
      self.guidance = guidance
      self.isReadOnly = isReadOnly
      self.asksBeforeCancellingByKey = asksBeforeCancellingByKey
      self.warningKinds = warningKinds
    }
  }
}
