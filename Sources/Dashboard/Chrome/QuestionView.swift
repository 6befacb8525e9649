// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws a question to the user, with the keys of its answers.
struct QuestionView {
  let dashboard: Dashboard
  let layout: Layout

  private func text(of question: Question) -> String {
    let what =
      question.ids.count == 1
      ? question.ids.map { dashboard.describe($0) }.joined()
      : "\(CountText.text(question.ids.count)) operations: "
        + question.ids.prefix(8).map { dashboard.describe($0) }.joined(separator: ", ")
    switch question.purpose {
    case .cancel: return "Cancel \(what)?"
    case .retry: return "Retry \(what)?"
    case .quit: return "Quit without waiting for \(what)?"
    case .open(_, let name): return "End the demo and attach to \(name)?"
    case .setSuspended(let id, let isSuspended):
      let name = dashboard.live.queue(id)?.label.clipped(to: 40) ?? "\(id)"
      return "\(isSuspended ? "Suspend" : "Resume") queue \(name)?"
    case .setStartLimit(let id, let limit):
      let name = dashboard.live.queue(id)?.label.clipped(to: 40) ?? "\(id)"
      return limit.map { "Limit the starts of queue \(name) to \($0.text)?" }
        ?? "Remove the limit of starts of queue \(name)?"
    }
  }

  /// Returns a sentence that explains what happens if the user answers yes.
  func consequence(of question: Question) -> String {
    switch question.purpose {
    case .cancel:
      question.ids.count == 1
        ? "Cancelling is final. Dependents that do not require success start after it."
        : "Cancelling is final. Dependents that do not require success start after them."
    case .retry:
      question.ids.count == 1
        ? "The job runs again. Jobs that were skipped because of it run too."
        : "The jobs run again. Jobs that were skipped because of them run too."
    case .quit: "The demo runs in this process. Quitting ends all its operations."
    case .open:
      dashboard.unfinishedCount == 1
        ? "The demo runs in this process. Its unfinished operation is discarded."
        : """
        The demo runs in this process. Its \(CountText.text(dashboard.unfinishedCount)) unfinished \
        operations are discarded.
        """
    case .setSuspended(let id, let isSuspended):
      isSuspended
        ? "Executing operations continue. No other operation of the queue starts."
        : resumption(heldCount: dashboard.live.queue(id)?.counts.held ?? 0)
    case .setStartLimit(_, let limit):
      limit == nil
        ? "Ready operations start as soon as slots are free."
        : "Operations above the limit stay ready. Executing operations continue."
    }
  }

  /// Returns a sentence about the operations of a suspended queue that can start when it is resumed.
  private func resumption(heldCount: Int) -> String {
    switch heldCount {
    case 0: "The queue starts operations again."
    case 1: "The queue's held operation can start."
    default: "The queue's \(CountText.text(heldCount)) held operations can start."
    }
  }

  /// Draws a question and the keys of its answers.
  func draw(_ question: Question, on canvas: inout Canvas) {
    let columnCount = canvas.columns.count
    func width(_ form: QuestionForm) -> Int {
      canvas.glyphs.width(of: form.text, limit: columnCount)
    }
    func room(_ form: QuestionForm) -> Int {
      columnCount - 2
        - form.answers.reduce(0) { $0 + 3 + $1.key.utf8.count + $1.words.utf8.count }
    }
    // If the question has not enough room beside the answers, a shorter form of both is drawn.
    let forms = forms(of: question)
    let chosen = forms.first { room($0) >= min(width($0), 24) } ?? forms[forms.count - 1]
    canvas.clear(row: layout.prompt)
    let style = Style(.warning, isBold: true)
    let end = 1 + max(0, min(width(chosen), room(chosen)))
    var column = canvas.write(chosen.text, row: layout.prompt, columns: 1..<end, style: style)
    for (action, key, words) in chosen.answers {
      let start = min(column + 2, columnCount)
      column = canvas.write(
        [Span(key, .accent, isBold: true), Span(words.isEmpty ? "" : " \(words)")],
        row: layout.prompt, columns: start..<columnCount)
      canvas.mark(.footer(action), row: layout.prompt, columns: start..<max(start, column))
    }
  }

  /// A text of a question, and the actions, the keys and the texts of its answers.
  private typealias QuestionForm = (
    text: String, answers: [(action: KeyAction, key: String, words: String)]
  )

  /// Returns several forms of a question, the longest first.
  private func forms(of question: Question) -> [QuestionForm] {
    let count = question.dependents?.ids.count ?? 0
    let end = question.dependents?.isCut == true ? "+" : ""
    let number = CountText.text(count) + end
    func form(_ text: String, also: String, hasWords: Bool = true) -> QuestionForm {
      let answers = KeyTable.footer(in: .question).compactMap {
        binding -> (KeyAction, String, String)? in
        guard let words = binding.footerWords[.question] else { return nil }
        guard binding.action == .answer(.also) else {
          return (binding.action, binding.footerKey, hasWords ? words : "")
        }
        return count == 0 ? nil : (binding.action, binding.footerKey, also)
      }
      return (text, answers)
    }
    let text = text(of: question)
    return [
      form(text, also: "Also \(number) dependent\(count == 1 ? "" : "s")"),
      form(text, also: "Also \(number)"),
      form(
        shortText(of: question), also: "All \(CountText.text(question.ids.count + count))\(end)"),
      form(text, also: "+\(number)", hasWords: false),
    ]
  }

  /// Returns the question about a command for operations without their names. Other questions have no shorter
  /// text.
  private func shortText(of question: Question) -> String {
    let verb: String
    switch question.purpose {
    case .cancel: verb = "Cancel"
    case .retry: verb = "Retry"
    case .quit, .open, .setSuspended, .setStartLimit: return text(of: question)
    }
    return question.ids.count == 1
      ? "\(verb) \(question.ids[0])?" : "\(verb) \(CountText.text(question.ids.count))?"
  }
}
