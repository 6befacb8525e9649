// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

extension PlannedOperation {
  /// Creates the operation of the plan, without its dependencies.
  func makeOperation(for pyramid: Pyramid) -> Operation {
    let operation: Operation =
      switch work {
      case .compute(let tile): ComputeTileOperation(tile: tile, of: pyramid, duration: duration)
      case .merge(let tile): MergeTilesOperation(tile: tile, of: pyramid, duration: duration)
      case .calibrate: CalibratePictureOperation(of: pyramid, duration: duration)
      case .write(let image) where isRetried:
        WriteImageOperation.retry(image: image, of: pyramid, duration: duration)
      case .write(let image): WriteImageOperation(image: image, of: pyramid, duration: duration)
      case .upload(let image): UploadImageOperation(image: image, of: pyramid, duration: duration)
      case .index: IndexPyramidOperation(of: pyramid, duration: duration)
      case .publish: PublishPyramidOperation(of: pyramid, duration: duration)
      }
    operation.name = name
    operation.queuePriority = priority
    operation.qualityOfService = qualityOfService
    return operation
  }
}
