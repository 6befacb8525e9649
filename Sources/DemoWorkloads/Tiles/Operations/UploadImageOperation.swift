// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import Operations
import Synchronization

/// An asynchronous operation that sends a file to a tile server. It holds no thread during the transfer.
///
/// The demo has no server. A timer ends the transfer after the time that a real transfer would take.
/// Everything else is as in an operation that uses a network library.
// Sendable is unchecked because the superclass is open; all stored properties are constants of Sendable
// types.
final class UploadImageOperation: Operation, @unchecked Sendable {
  private let image: ImageName
  private let pyramid: Pyramid
  private let duration: Duration
  private let lifecycle = Mutex(UploadLifecycle())

  init(image: ImageName, of pyramid: Pyramid, duration: Duration) {
    self.image = image
    self.pyramid = pyramid
    self.duration = duration
  }

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { lifecycle.withLock(\.isExecuting) }
  override var isFinished: Bool { lifecycle.withLock(\.isFinished) }

  override func start() { perform(lifecycle.withLock { $0.start() }) }

  override func cancel() {
    super.cancel()
    perform(lifecycle.withLock { $0.cancel() })
  }

  private func perform(_ action: UploadLifecycle.Action) {
    switch action {
    case .nothing: break
    case .enter: enter()
    case .transfer: transfer()
    case .leave(let hasExecuted): leave(hasExecuted: hasExecuted)
    }
  }

  private func enter() {
    willChangeValue(forKey: "isExecuting")
    lifecycle.withLock { $0.enter() }
    didChangeValue(forKey: "isExecuting")
    perform(lifecycle.withLock { $0.entered() })
  }

  private func transfer() {
    guard case .written = pyramid.fileResult(of: image) else {
      // The file was not written, because the operation that writes it was cancelled or failed. Therefore
      // nothing is sent.
      perform(lifecycle.withLock { $0.cancel() })
      return
    }
    // The timer's reference is weak, so that a cancelled upload is deallocated at once and not only after the
    // timer has fired.
    let time = pyramid.time(for: duration).components
    let nanoseconds = Int(time.seconds) * 1_000_000_000 + Int(time.attoseconds / 1_000_000_000)
    Self.network.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { [weak self] in
      self?.transferEnded()
    }
  }

  private func transferEnded() {
    let action = lifecycle.withLock { $0.transferEnded() }
    if action != .nothing { pyramid.recordUpload(of: image) }
    perform(action)
  }

  private func leave(hasExecuted: Bool) {
    if hasExecuted { willChangeValue(forKey: "isExecuting") }
    willChangeValue(forKey: "isFinished")
    lifecycle.withLock { $0.leave() }
    didChangeValue(forKey: "isFinished")
    if hasExecuted { didChangeValue(forKey: "isExecuting") }
  }

  /// The dispatch queue on which answers of the network arrive.
  private static let network = DispatchQueue(label: "opq.demo.network")
}
