// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// The reason of the cancellation after Ctrl-C.
struct Interrupted: Error, CustomStringConvertible {
  var description: String { "interrupted by Ctrl-C" }
}

/// The error of a write while the folder of the results is busy.
struct FolderIsBusy: Error, CustomStringConvertible {
  var description: String { "the folder is busy" }
}

/// The operations that process the files. For each file, four operations run one after the other: read, hash,
/// transform and write. Each one continues with the result of the one before, and is cancelled if that one fails.
/// The index depends on all writes, whether they succeed or not.
final class Batch: Sendable {
  /// The line of one file in the index.
  struct Entry: Sendable {
    let name: String
    let hash: UInt64
  }

  /// The contents of a file, and their hash.
  typealias Hashed = (bytes: [UInt8], hash: UInt64)

  /// The operation that writes the index. It is the last operation.
  let index: AsyncOperation<Int>
  private let steps: [Operation]
  private let disk = OperationQueue(name: "disk", maxConcurrentOperationCount: 8)
  private let processor = OperationQueue(name: "processor", maxConcurrentOperationCount: 2)

  /// Creates the operations.
  ///
  /// - Parameters:
  ///   - folders: The folders of the files.
  ///   - pause: The time that each reading takes at least.
  init(folders: Folders, pause: Duration) {
    var steps: [Operation] = []
    let writes = folders.names.map { name in
      let read = AsyncOperation(name: "read \(name)") {
        if pause > .zero { try await Task.sleep(for: pause) }
        return try folders.read(name)
      }
      let hash = read.then(name: "hash \(name)") { ($0, Self.hash($0)) as Hashed }
      let transform = Self.transform(name, hash)
      let write = Self.write(name, transform, in: folders)
      let chain: [(String, Operation)] = [
        ("read", read), ("hash", hash), ("transform", transform), ("write", write),
      ]
      for (kind, step) in chain { step.kind = kind }
      steps += chain.map(\.1)
      return write
    }
    index = AsyncOperation(name: "write the index", dependencies: writes) {
      let entries = writes.compactMap { try? $0.result?.get() }
      try folders.writeIndex(entries.map { "\($0.name) \(String($0.hash, radix: 16))" })
      return entries.count
    }
    index.kind = "index"
    self.steps = steps
  }

  /// Starts the batch.
  func start() {
    let isOnDisk = ["read", "write"]
    disk.addOperations(steps.filter { isOnDisk.contains($0.kind) } + [index])
    processor.addOperations(steps.filter { !isOnDisk.contains($0.kind) })
  }

  /// Cancels all operations, because the user has pressed Ctrl-C.
  func cancel() {
    for queue in [processor, disk] { queue.cancelAllOperations(with: Interrupted()) }
  }

  /// Waits until all operations have finished. After a cancellation, this includes the operations that were
  /// executing.
  func waitUntilFinished() async {
    for queue in [processor, disk] { await queue.waitUntilAllOperationsAreFinished() }
  }

  /// Whether the user has pressed Ctrl-C before the end.
  var isInterrupted: Bool { index.isCancelled }

  /// What the batch has done: the number of results, and the reasons of the failures.
  var summary: String {
    let failures = steps.filter { !$0.isCancelled }.compactMap { step in
      step.error.map { "\(step.kind) failed: \($0)" }
    }
    let reasons = Dictionary(grouping: failures) { $0 }
    let lines = reasons.map { "\($1.count) × \($0)" }.sorted()
    let result =
      (try? index.result?.get()).map { "\(steps.count / 4) files, \($0) in the index" }
      ?? "the index was not written"
    let head = (isInterrupted ? "interrupted; " : "") + result
    let cancelled = "\(steps.count { $0.isCancelled }) operations cancelled"
    return ([head] + lines + [cancelled]).joined(separator: "\n")
  }

  // MARK: The steps

  /// Returns the operation that transforms a file, which has a time limit.
  private static func transform(
    _ name: String, _ hash: AsyncOperation<Hashed>
  ) -> AsyncOperation<Hashed> {
    // One file takes too long. Its limit is short, so that the demo ends soon.
    let limit = name == "1999.txt" ? Duration.milliseconds(500) : .seconds(30)
    let transform = TimeoutOperation(after: limit) {
      AsyncOperation {
        if name == "1999.txt" { try await Task.sleep(for: .seconds(3_600)) }
        let (bytes, hash) = try await hash.value
        return (bytes.map { $0 &- ($0 > 96 && $0 < 123 ? 32 : 0) }, hash) as Hashed
      }
    }
    transform.name = "transform \(name)"
    transform.addDependency(hash, requires: .success)
    return transform
  }

  /// Returns the operation that writes a result. It tries three times, because the folder may be busy.
  private static func write(
    _ name: String, _ transform: AsyncOperation<Hashed>, in folders: Folders
  ) -> AsyncOperation<Entry> {
    // The folder is busy at the first attempt for each hundredth file, and always for the file 1234.
    let write = RetryOperation(maximumAttempts: 3, delay: { .milliseconds(20 << $0) }) { attempt in
      AsyncOperation(name: "attempt \(attempt) to write \(name)") {
        if name == "1234.txt" || attempt == 1 && name.hasSuffix("00.txt") { throw FolderIsBusy() }
        let (bytes, hash) = try await transform.value
        try folders.write(bytes, name)
        return Entry(name: name, hash: hash)
      }
    }
    write.name = "write \(name)"
    // A result is written before further files are read.
    write.queuePriority = .high
    write.addDependency(transform, requires: .success)
    return write
  }

  /// Returns a hash of the bytes, computed with the algorithm FNV-1a.
  private static func hash(_ bytes: [UInt8]) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}
