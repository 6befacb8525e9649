// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import Dashboard
import MonitorProtocol

/// The options that also have a key in the settings file. An option has priority over the file, and is not saved.
package struct DashboardOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Show this view first. The views: \(Self.views).", valueName: "name"),
    completion: .list(DashboardSettings.View.allCases.map(\.rawValue)),
    transform: { try Self.value(DashboardSettings.View(rawValue: $0), $0, "view", Self.views) })
  var view: DashboardSettings.View?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      """
      The order of operations, such as time, or -time for the reversed order. The orders: \(Self.orders).
      """, valueName: "name"),
    completion: .list(SortOrder.settingNames),
    transform: { try Self.value(SortOrder(settingName: $0), $0, "order", Self.orders) })
  var sort: SortOrder?

  @Option(
    help: ArgumentHelp(
      """
      List only matching operations, such as "state:exec queue:io age>5s". The syntax is that of the \
      dashboard's filter. Counts include all operations.
      """, valueName: "text"),
    transform: { try OperationFilter($0) })
  var filter: OperationFilter?

  @Option(
    help: ArgumentHelp(
      """
      The colors of the dashboard: fixed ones for a dark or a light background, or none. The themes: \
      \(Self.themes).
      """, valueName: "name"),
    completion: .list(Theme.allCases.map(\.rawValue)),
    transform: { try Self.value(Theme(rawValue: $0), $0, "theme", Self.themes) })
  var theme: Theme?

  @Flag(inversion: .prefixedNo, help: "React to the mouse in the dashboard.")
  var mouse: Bool?

  @Flag(inversion: .prefixedNo, help: "Sound the terminal's bell at each new deadlock.")
  var bell: Bool?

  /// Creates options without values, as if the command line has none of them.
  package init() {}

  /// The given options without an effect on text, as they are on the command line.
  var givenForScreen: [String] {
    [
      view.map { "--view=\($0.rawValue)" }, theme.map { "--theme=\($0.rawValue)" },
      mouse.map { $0 ? "--mouse" : "--no-mouse" }, bell.map { $0 ? "--bell" : "--no-bell" },
    ].compactMap { $0 }
  }

  /// The given options, as they are on the command line, without the values of texts.
  var given: [String] {
    let others = [sort.map { "--sort=\($0.settingName)" }, filter.map { _ in "--filter" }]
    return givenForScreen + others.compactMap { $0 }
  }

  /// Replaces the settings for which an option is given.
  func apply(to settings: inout DashboardSettings) {
    if let view { settings.view = view }
    if let sort { settings.order = sort }
    if let filter { settings.filter = filter.text.contains { $0 != " " } ? filter : nil }
    if let theme { settings.theme = theme }
    if let mouse { settings.usesMouse = mouse }
    if let bell { settings.ringsBell = bell }
  }

  private static let views = DashboardSettings.View.allCases.map(\.rawValue)
    .joined(separator: ", ")
  private static let orders = SortOrder.settingNames.joined(separator: ", ")
  private static let themes = Theme.allCases.map(\.rawValue).joined(separator: ", ")

  /// Checks that a value has the name that is given.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` if no value has the name.
  ///   - name: The name on the command line, which is that of the settings file.
  ///   - kind: The noun for a value.
  ///   - names: The names of all values.
  /// - Returns: The value.
  /// - Throws: An error that lists the names if no value has the name.
  private static func value<Value>(
    _ value: Value?, _ name: String, _ kind: String, _ names: String
  ) throws -> Value {
    guard let value else {
      throw ValidationError("unknown \(kind) \"\(name)\"; the \(kind)s are \(names)")
    }
    return value
  }
}
