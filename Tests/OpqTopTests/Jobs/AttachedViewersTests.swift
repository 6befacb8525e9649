// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import OpqTop

@Suite("The viewers that a runner awaits") struct AttachedViewersTests {
  private static let begin = MonitorTime(nanoseconds: 1_000)

  private static func after(_ duration: Duration) -> MonitorTime { begin + duration }

  @Test("RD-3: The first viewer has ten seconds to attach")
  func firstViewer() {
    let viewers = AttachedViewers(now: Self.begin)
    #expect(viewers.mustBeAwaited(at: Self.begin))
    #expect(viewers.nextChange(after: Self.begin) == Self.after(.seconds(10)))
    #expect(viewers.mustBeAwaited(at: Self.after(.milliseconds(9_999))))
    #expect(!viewers.mustBeAwaited(at: Self.after(.seconds(10))))
  }

  @Test("RD-3: The runner does not wait until a time that has passed")
  func deadline() {
    let viewers = AttachedViewers(now: Self.begin)
    for late in [10, 11] { #expect(viewers.nextChange(after: Self.after(.seconds(late))) == nil) }
  }

  @Test("RD-3: The runner awaits each attached viewer, and none that has left")
  func attachedViewers() {
    let viewers = AttachedViewers(now: Self.begin)
    viewers.note(0)
    #expect(viewers.mustBeAwaited(at: Self.begin))
    viewers.note(2)
    #expect(viewers.mustBeAwaited(at: Self.after(.seconds(1_000))))
    #expect(viewers.nextChange(after: Self.begin) == nil)
    viewers.note(1)
    #expect(viewers.mustBeAwaited(at: Self.after(.seconds(1_000))))
    viewers.note(0)
    #expect(!viewers.mustBeAwaited(at: Self.begin))
    #expect(viewers.nextChange(after: Self.begin) == nil)
  }

  @Test("RD-3: A viewer that attaches late is awaited too")
  func lateViewer() {
    let viewers = AttachedViewers(now: Self.begin)
    #expect(!viewers.mustBeAwaited(at: Self.after(.seconds(11))))
    viewers.note(1)
    #expect(viewers.mustBeAwaited(at: Self.after(.seconds(11))))
  }
}
