// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import NIOCore
import NIOPosix
import OperationsMonitor

/// The thread of all connections of this program.
enum ConnectionLoop {
  /// Its loop; there is none before somebody asks.
  static let shared: any EventLoop = ConnectionThread.makeGroup(named: "opq-connection").next()
}
