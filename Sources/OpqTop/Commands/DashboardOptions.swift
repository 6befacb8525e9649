// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import ArgumentParser
public import Dashboard
import MonitorProtocol

/// The options that also have a key in the settings file. An option has priority over the file, and is not saved.
package struct DashboardOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Show this view first.", valueName: "name"))
  var view: DashboardSettings.View?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      """
      The order of operations, such as time, or -time for the reversed order. The orders: \(Self.orders).
      """, valueName: "name"),
    completion: .list(SortOrder.settingNames), transform: { try Self.order($0) })
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
      "The colors of the dashboard: fixed ones for a dark or a light background, or none.",
      valueName: "name"))
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

  private static let orders = SortOrder.settingNames.joined(separator: ", ")

  private static func order(_ name: String) throws -> SortOrder {
    guard let order = SortOrder(settingName: name) else {
      throw ValidationError("unknown order \"\(name)\"; the orders are \(orders)")
    }
    return order
  }
}

/// The name of a view on the command line is its name in the settings file.
extension DashboardSettings.View: ExpressibleByArgument {}

/// The name of a theme on the command line is its name in the settings file.
extension Theme: ExpressibleByArgument {}
