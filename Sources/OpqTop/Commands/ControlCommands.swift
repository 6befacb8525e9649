// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import MonitorProtocol

/// `opq-top cancel`: cancels operations.
struct CancelCommand: InquiryCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "Cancels operations.",
    discussion: """
      Cancelling is a request. To wait until the operations are cancelled, use "wait --state cancelled". \
      An operation that has already finished is reported, and is not an error. Exits with 1 if an \
      operation is unknown, and with 5 if the process is read-only.
      """
        + Examples.help("cancel"))
  static let isReadOnly = false

  @Argument(
    help: ArgumentHelp(
      "The ids of the operations, such as 1042 or '#1042', or their names.",
      valueName: "id"),
    transform: OperationWord.read)
  var operations: [OperationWord]

  @Flag(
    name: .customLong("with-dependents"),
    help: "Also cancel all operations that depend on these operations, directly or indirectly.")
  var withDependents = false

  @OptionGroup var options: InquiryOptions
  @OptionGroup var runs: RunPlaceOptions

  var runPlace: RunPlaceOptions? { runs }

  func validate() throws {
    try operations.checkCount()
    try checkSource()
  }

  func inquiry(about ids: [OperationReport.ID]) -> any Inquiry {
    CancelInquiry(ids, includingDependents: withDependents, options.form)
  }
}

/// `opq-top suspend`: suspends a queue.
struct SuspendCommand: InquiryCommand {
  static let configuration = CommandConfiguration(
    commandName: "suspend", abstract: "Suspends a queue.",
    discussion: """
      Operations that execute continue. Exits with 1 if no queue has this name, with 2 if several have it, \
      and with 5 if the process is read-only.
      """
        + Examples.help("suspend"))
  static let isReadOnly = false

  @Argument(
    help: ArgumentHelp("The name of the queue, or its id, such as 3 or '#3'.", valueName: "queue"))
  var queue: String

  @OptionGroup var options: InquiryOptions
  @OptionGroup var runs: RunPlaceOptions

  var runPlace: RunPlaceOptions? { runs }

  func validate() throws { try checkSource() }

  func inquiry(about ids: [OperationReport.ID]) -> any Inquiry {
    SuspendInquiry(queue, isSuspended: true, options.form)
  }
}

/// `opq-top resume`: resumes a queue.
struct ResumeCommand: InquiryCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Resumes a suspended queue.",
    discussion: """
      Exits with 1 if no queue has this name, with 2 if several have it, and with 5 if the process is \
      read-only.
      """
        + Examples.help("resume"))
  static let isReadOnly = false

  @Argument(
    help: ArgumentHelp("The name of the queue, or its id, such as 3 or '#3'.", valueName: "queue"))
  var queue: String

  @OptionGroup var options: InquiryOptions
  @OptionGroup var runs: RunPlaceOptions

  var runPlace: RunPlaceOptions? { runs }

  func validate() throws { try checkSource() }

  func inquiry(about ids: [OperationReport.ID]) -> any Inquiry {
    SuspendInquiry(queue, isSuspended: false, options.form)
  }
}
