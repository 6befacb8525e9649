// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import MonitorProtocol

@Suite struct MailboxTests {
  private let update = MonitorMessage.update(RecordingScene.update(1))
  private let silence = MonitorMessage.silent(for: .seconds(1))

  @Test func aSessionWakesTheViewerOnceUntilTheViewerTakesTheMessages() {
    var mailbox = Mailbox()
    var wakes = [mailbox.post(update), mailbox.post(silence)]
    let first = mailbox.takeMessages(withUpdates: false)
    #expect(first == [silence] && mailbox.updateCount == 1)
    wakes.append(mailbox.post(silence))
    #expect(wakes == [true, false, true])
    let second = mailbox.takeMessages()
    #expect(second == [update, silence] && mailbox.updateCount == 0)
  }

  @Test func afterTheEndOfTheSessionTheViewerReceivesNoMessages() {
    var mailbox = Mailbox(messages: [update])
    let ends = [mailbox.invalidate(), mailbox.invalidate()]
    #expect(ends == [true, false] && mailbox.isInvalid && mailbox.updateCount == 0)
    var messages = mailbox.takeMessages()
    let isWoken = mailbox.post(update)
    messages += mailbox.takeMessages()
    #expect(messages.isEmpty && !isWoken)
  }
}
