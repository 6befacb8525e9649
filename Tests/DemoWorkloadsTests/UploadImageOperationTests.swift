// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import Operations
import Synchronization
import Testing

@testable import DemoWorkloads

@Suite struct UploadImageOperationTests {
  private let image = ImageName.picture

  /// Returns a pyramid of tiles with an image to upload. If `isWritten` is `false`, the file of the
  /// image has not been written.
  private func pyramid(isWritten: Bool = true) -> Pyramid {
    let pyramid = Pyramid(
      plan: PyramidPlan(seed: 1, number: 1), directory: "/nowhere", pacing: Pacing(speed: 1))
    if isWritten { pyramid.record(.written(bytes: 1), of: image) }
    return pyramid
  }

  /// Returns an upload that does not end during a test.
  private func endlessUpload(of pyramid: Pyramid) -> UploadImageOperation {
    UploadImageOperation(image: image, of: pyramid, duration: .seconds(3600))
  }

  @Test func anUploadFinishesAfterItsDuration() {
    let pyramid = pyramid()
    let upload = UploadImageOperation(image: image, of: pyramid, duration: .milliseconds(1))
    #expect(upload.isAsynchronous)
    let queue = OperationQueue()
    queue.addOperation(upload)
    upload.waitUntilFinished()
    #expect(upload.isFinished && !upload.isExecuting && !upload.isCancelled)
    #expect(pyramid.publication().contains("\"uploaded\": 1"))
  }

  @Test func startReturnsWhileItTransfers() {
    let upload = endlessUpload(of: pyramid())
    upload.start()
    #expect(upload.isExecuting && !upload.isFinished)
    upload.cancel()
    #expect(!upload.isExecuting && upload.isFinished && upload.isCancelled)
  }

  @Test func anUploadCancelledBeforeItsStartFinishesInItsQueue() {
    let upload = endlessUpload(of: pyramid())
    let queue = OperationQueue()
    queue.isSuspended = true
    queue.addOperation(upload)
    upload.cancel()
    #expect(!upload.isFinished)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(upload.isFinished)
  }

  @Test func anUploadCancelledDuringItsTransferFreesItsQueue() async {
    let upload = endlessUpload(of: pyramid())
    let queue = OperationQueue()
    queue.addOperation(upload)
    #expect(await eventually { upload.isExecuting })
    queue.cancelAllOperations()
    #expect(await eventually { queue.operationCount == 0 })
    #expect(upload.isFinished && upload.isCancelled)
  }

  @Test func anUploadWithoutAFileEndsAtOnceAsMissing() {
    let pyramid = pyramid(isWritten: false)
    let upload = endlessUpload(of: pyramid)
    upload.start()
    #expect(upload.isFinished)
    #expect(pyramid.publication().contains("\"uploaded\": 0"))
  }

  @Test func anUploadCompletesOnceInARaceWithCancellations() {
    for round in 0..<300 {
      let upload = UploadImageOperation(
        image: image, of: pyramid(), duration: .microseconds(round))
      let completions = Mutex(0)
      let completed = DispatchSemaphore(value: 0)
      upload.completionBlock = {
        completions.withLock { $0 += 1 }
        completed.signal()
      }
      let queue = OperationQueue()
      queue.addOperation(upload)
      DispatchQueue.concurrentPerform(iterations: 2) { _ in upload.cancel() }
      queue.waitUntilAllOperationsAreFinished()
      completed.wait()
      #expect(completions.withLock(\.self) == 1, "round \(round)")
    }
  }
}
