// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !canImport(ObjectiveC)
  public import Foundation
  public import OperationsCore

  extension OperationSupplement where Self: OperationsCore.Operation {
    /// The progress of the operation's work.
    ///
    /// When `totalUnitCount` or `completedUnitCount` is set, the operation reports both counts, as
    /// `reportProgress(completed:of:)` does. So `opq-top` shows them.
    ///
    /// ```swift
    /// queue.addOperation {
    ///   guard let progress = Operation.current?.progress else { return }
    ///   progress.totalUnitCount = Int64(pages.count)
    ///   for page in pages {
    ///     convert(page)
    ///     progress.completedUnitCount += 1
    ///   }
    /// }
    /// ```
    ///
    /// On Linux, `Progress` does not announce the changes of its children. The operation reports the part of
    /// its children when a count of this object is set the next time.
    ///
    /// The value is always the same object, which is created on the first access. It does not retain the
    /// operation. On Linux `Progress` is not thread-safe: use it on one thread at a time, or call
    /// `reportProgress(completed:of:)` instead, which any thread may call. Foundation's `Operation` has no such
    /// property.
    public var progress: Progress { (self as OperationsCore.Operation).foundationProgress }
  }

  extension OperationsCore.Operation {
    fileprivate final var foundationProgress: OperationProgress {
      let kept = companion { OperationProgress(operation: self) }
      guard let progress = kept as? OperationProgress else {
        preconditionFailure("Another module already uses the companion of this operation: \(kept)")
      }
      return progress
    }
  }

  /// The progress of an operation, which the operation reports.
  // Unchecked `Sendable` conformance, because the compiler cannot check `Progress`. The stored value is
  // constant.
  private final class OperationProgress: Progress, @unchecked Sendable {
    private weak let operation: OperationsCore.Operation?

    init(operation: OperationsCore.Operation) {
      self.operation = operation
      super.init(parent: nil, userInfo: nil)
    }

    override var totalUnitCount: Int64 {
      get { super.totalUnitCount }
      set {
        super.totalUnitCount = newValue
        report()
      }
    }

    override var completedUnitCount: Int64 {
      get { super.completedUnitCount }
      set {
        super.completedUnitCount = newValue
        report()
      }
    }

    private func report() {
      let total = super.totalUnitCount
      // The fraction includes the part of the children. If the total is very large, the product is not exact
      // and may exceed the range of integers.
      let part = (super.fractionCompleted * Double(total)).rounded(.down)
      let completed = total > 0 ? Int64(exactly: part) ?? total : super.completedUnitCount
      operation?.reportProgress(
        completed: Int(max(completed, super.completedUnitCount)), of: Int(total))
    }
  }
#endif
