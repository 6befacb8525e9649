// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import MonitorProtocol

extension Dashboard {
  /// The configuration of a dashboard, which it receives when it is made.
  public struct Configuration: Sendable, Equatable {
    /// The source that is watched first. If it is `nil`, the picker opens, and the user selects a source.
    public var source: Source?
    /// The name of the demo, such as `tiles`; empty for the process's own name. Another process always has
    /// its own name. Unsanitised.
    public var title: String
    /// A hint for the demo with the keys to press. It is shown for the first 20 s or until a key is pressed.
    /// If it is empty, there is no hint.
    public var guidance: String
    /// Whether the viewer sends no commands, even to a process that accepts them.
    public var isReadOnly: Bool
    /// Whether `X` and a letter asks before it cancels in the demo. In other processes it asks as `x` does.
    public var asksBeforeCancellingByKey: Bool
    /// The kinds of warnings that are shown.
    public var warningKinds: Set<MonitorWarning.Kind>

    /// Creates a configuration. The default is one for the demo that asks before every change.
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
