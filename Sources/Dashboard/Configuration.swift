// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import MonitorProtocol

extension Dashboard {
  /// The options with which a dashboard is created.
  public struct Configuration: Sendable, Equatable {
    /// The source that the dashboard watches first. If it is `nil`, the picker opens, and the user selects a
    /// source.
    public var source: Source?
    /// The name of the demo or of the job file that the header shows, such as `tiles`. If it is empty, the header
    /// shows the name of the process. For any other process the header always shows that process's own name. The
    /// name is unsanitised.
    public var title: String
    /// A hint for the demo with the keys to press. The dashboard shows the hint until the user presses a key.
    /// If the hint is empty, the dashboard shows a general hint, as it does for every other source.
    public var guidance: String
    /// A hint for the first source if it is a process that this program has started. The dashboard shows the hint
    /// until the user presses a key. If the hint is empty, the dashboard shows a general hint. The hint is
    /// unsanitised.
    public var launchHint: String
    /// Whether the dashboard sends no commands, even to a process that accepts them.
    public var isReadOnly: Bool
    /// Whether the operations of the first source are the jobs of a file. Then the header shows ``title``, and the log
    /// screen shows the whole output of a job.
    public var runsJobs: Bool
    /// The name of the machine whose processes the picker lists, unsanitised; empty for this machine.
    public var host: String
    /// Whether the operations of the first source are the jobs of a run on another machine. This program cannot read
    /// the output of these jobs.
    public var runsJobsElsewhere: Bool
    /// Whether the terminal shows characters beyond ASCII.
    public var isUnicode: Bool
    /// The kinds of warnings that the dashboard shows.
    public var warningKinds: Set<MonitorWarning.Kind>
    /// The settings with which the dashboard starts: those of the options, of the settings file, or the defaults.
    public var settings: DashboardSettings
    /// A sentence about mistakes in the settings file, which the dashboard shows for 20 s or until the first key;
    /// empty if there are none. The sentence is unsanitised.
    public var settingsRemark: String

    /// Creates a configuration. By default, the dashboard watches the demo.
    public init(
      source: Source? = .demo, title: String = "", guidance: String = "", launchHint: String = "",
      isReadOnly: Bool = false, runsJobs: Bool = false, host: String = "",
      runsJobsElsewhere: Bool = false, isUnicode: Bool = true,
      warningKinds: Set<MonitorWarning.Kind> = MonitorWarning.Kind.usual,
      settings: DashboardSettings = DashboardSettings(), settingsRemark: String = ""
    ) {
      self.source = source
      self.title = title
      self.guidance = guidance
      self.launchHint = launchHint
      self.isReadOnly = isReadOnly
      self.runsJobs = runsJobs
      self.host = host
      self.runsJobsElsewhere = runsJobsElsewhere
      self.isUnicode = isUnicode
      self.warningKinds = warningKinds
      self.settings = settings
      self.settingsRemark = settingsRemark
    }
  }
}
