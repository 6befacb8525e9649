// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import MonitorProtocol

/// `opq-top cancel`: asks operations to cancel.
struct CancelCommand: InquiryCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "Asks operations to cancel.",
    discussion: """
      Cancelling is a request: "wait --state cancelled" waits until it is met. One that has already \
      finished is said to have, and is no error. Where the process does not know an operation the exit \
      status is 1, and 5 where it is read-only.
      """)
  static let isReadOnly = false

  @Argument(
    help: ArgumentHelp("The operations, as 1042 or '#1042'.", valueName: "id"),
    transform: OperationNumber.read)
  var ids: [OperationReport.ID]

  @Flag(
    name: .customLong("with-dependents"),
    help: "Cancel what depends on them, too, directly or through others.")
  var withDependents = false

  @OptionGroup var options: InquiryOptions

  func validate() throws { try ids.checkCount() }

  var inquiry: any Inquiry {
    CancelInquiry(ids, includingDependents: withDependents, options.form)
  }
}

/// `opq-top suspend`: lets a queue start nothing new.
struct SuspendCommand: InquiryCommand {
  static let configuration = CommandConfiguration(
    commandName: "suspend", abstract: "Lets a queue start nothing new.",
    discussion: """
      What executes goes on. Where several queues have the name the exit status is 2, where none has it 1, \
      and where the process is read-only 5.
      """)
  static let isReadOnly = false

  @Argument(help: ArgumentHelp("The queue's name, or its id as 3 or '#3'.", valueName: "queue"))
  var queue: String

  @OptionGroup var options: InquiryOptions

  var inquiry: any Inquiry { SuspendInquiry(queue, isSuspended: true, options.form) }
}

/// `opq-top resume`: lets a queue go on.
struct ResumeCommand: InquiryCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Lets a suspended queue go on.",
    discussion: """
      Where several queues have the name the exit status is 2, where none has it 1, and where the process \
      is read-only 5.
      """)
  static let isReadOnly = false

  @Argument(help: ArgumentHelp("The queue's name, or its id as 3 or '#3'.", valueName: "queue"))
  var queue: String

  @OptionGroup var options: InquiryOptions

  var inquiry: any Inquiry { SuspendInquiry(queue, isSuspended: false, options.form) }
}
