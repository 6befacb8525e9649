// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// The groups of the list.

extension Dashboard {
  /// The maximum number of groups that the dashboard requests.
  private static let groupLimit = 500

  /// The groups on the screen; `nil` if the list is not grouped or another view is shown.
  var shownGroups: GroupState? { screen.view == .operations ? groups : nil }

  /// Performs an action of the groups.
  mutating func perform(_ key: KeyAction.Groups) -> [Effect] {
    switch key {
    case .cycle:
      switch groups?.by {
      case nil: groups = GroupState(by: .kind)
      case .kind: groups = GroupState(by: .queue)
      case .queue: groups = nil
      }
    case .filter: return listSelectedGroup()
    case .sortNext: groups?.order.moveColumn(by: 1)
    case .sortPrevious: groups?.order.moveColumn(by: -1)
    case .invertOrder: groups?.order.isReversed.toggle()
    }
    return []
  }

  /// Shows the list with only the operations of the selected group. A filter that the list already has stays in force.
  private mutating func listSelectedGroup() -> [Effect] {
    guard let group = groups?.selected else {
      show("no group is selected", isWarning: true)
      return [.bell]
    }
    guard let condition = filterText(of: group.key) else {
      show("the queue no longer exists", isWarning: true)
      return [.bell]
    }
    let present = list.listing.filter?.text ?? ""
    let isThere = present == condition || present.hasSuffix(" \(condition)")
    let text = isThere ? present : present.isEmpty ? condition : "\(present) \(condition)"
    guard text.utf8.count <= WireLimits.longestText, let filter = try? OperationFilter(text) else {
      show("the name of the group is too long for a filter", isWarning: true)
      return [.bell]
    }
    list.listing.filter = filter
    groups = nil
    return []
  }

  /// Returns the text of a filter that only the operations of a group match; `nil` if the queue of the group no longer
  /// exists. If the name of the queue is not unique in its process, the filter has its id too.
  private func filterText(of key: OperationGroups.Key) -> String? {
    switch key {
    case .kind(let kind):
      return "kind:=\(OperationFilter.quoted(kind))"
    case .queue(let id):
      guard let queue = shown.queue(id) else { return nil }
      let process = id.processNumber == 0 ? "" : "\(id.processNumber)# "
      let isUnique = !shown.queues.contains {
        $0.id != id && $0.id.processNumber == id.processNumber && $0.name == queue.name
      }
      let number = isUnique ? "" : " queue:=#\(id.withinProcess.rawValue)"
      return "\(process)queue:=\(OperationFilter.quoted(queue.name))\(number)"
    }
  }

  /// The number of rows for groups on the screen.
  var groupHeight: Int { max(1, pageHeight - (shown.hasGroupRemark ? 1 : 0)) }

  /// Moves the selection of the groups by `offset` rows, at most to the first or the last row.
  mutating func moveInGroups(by offset: Int) {
    let height = groupHeight
    groups?.move(by: offset, height: height)
  }

  /// Keeps the selection of the groups valid after the monitored state or the size has changed.
  mutating func settleGroups() {
    guard groups != nil else { return }
    let (monitored, height) = (shown, groupHeight)
    groups?.settle(in: monitored, height: height)
  }

  /// Adds the groups to the requested data, if they are shown.
  func addGroupInterest(to interest: inout Interest) {
    guard let groups = shownGroups else { return }
    interest.groups = Interest.GroupsRequest(by: groups.by, limit: Self.groupLimit)
  }

  /// Whether the screen shows a history of groups that changes with the next second. A rate becomes known when the first
  /// second is complete.
  var groupHistoryMoves: Bool {
    guard let groups = shownGroups, setup == nil, warningList == nil, let layout = screen.layout
    else { return false }
    let seconds = GroupTableView.seconds(columns: layout.table.count)
    // The rate of a group without a row on the screen can change the order.
    let visible =
      groups.order.column == .rate
      ? groups.rows[...]
      : groups.lines(height: groupHeight).compactMap { $0 }.map { groups.rows[$0] }[...]
    return visible.compactMap { shown.groupHistories[$0.key] }.contains {
      $0.isBeginning || $0.isMoving(within: seconds)
    }
  }
}

extension MonitoredState {
  /// The number of watched processes that cannot count the operations of groups, because their versions of the protocol
  /// do not know groups.
  var uncountedProcessCount: Int {
    if processes.isEmpty { return hello?.sendsQueueDetails == false ? 1 : 0 }
    return processes.count { !$0.hello.sendsQueueDetails }
  }

  /// Whether a line below the groups has the number of further groups, or of processes whose operations are not counted.
  var hasGroupRemark: Bool {
    let isIncomplete = groups.map { $0.otherCount > 0 || $0.countingProcessCount > 0 } ?? false
    return isIncomplete || uncountedProcessCount > 0
  }

  /// Whether no watched process can count the operations of groups.
  var isWithoutGroups: Bool {
    uncountedProcessCount > 0 && uncountedProcessCount == max(1, processes.count)
  }

  /// Adds the counts of an update to the histories of the groups. An update without groups removes the histories,
  /// because the next update counts the operations that have ended meanwhile.
  mutating func noteGroupHistories(_ update: Update) {
    guard let groups = update.groups else { return forgetGroupHistories() }
    if update.behind > Self.longestDelay { interruptGroupHistories() }
    var histories: [OperationGroups.Key: RateHistory] = [:]
    for group in groups.groups {
      var history = groupHistories.removeValue(forKey: group.key) ?? newHistory
      if group.lacksEnds { history.interrupt() }
      history.note(total: group.endedCount, at: update.time)
      histories[group.key] = history
    }
    groupHistories = histories
  }

  private var newHistory: RateHistory {
    var history = RateHistory(omitsPartialSecond: true)
    if let hello { history.alignSeconds(to: hello) }
    return history
  }

  /// Completes the seconds of the groups' histories that have ended at `time`.
  mutating func advanceGroupHistories(to time: MonitorTime) {
    for index in groupHistories.indices { groupHistories.values[index].advance(to: time) }
  }

  /// Notes that updates may be missing before the next one, because the process has not answered.
  mutating func interruptGroupHistories() {
    for index in groupHistories.indices { groupHistories.values[index].interrupt() }
  }

  /// Removes the histories of the groups.
  mutating func forgetGroupHistories() {
    if !groupHistories.isEmpty { groupHistories = [:] }
  }
}
