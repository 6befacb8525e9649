// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Requests that wait, the longest wait first.
struct RequestLine {
  typealias Request = WorkerPoolState.Request

  private var requests: [Request] = []
  /// Those before it have been taken.
  private var start = 0

  var isEmpty: Bool { start == requests.count }
  var count: Int { requests.count - start }
  var first: Request? { isEmpty ? nil : requests[start] }
  var all: ArraySlice<Request> { requests[start...] }

  mutating func append(_ request: Request) { requests.append(request) }

  mutating func prepend(_ request: Request) {
    requests.insert(request, at: start)
  }

  @discardableResult
  mutating func popFirst() -> Request? {
    guard let first else { return nil }
    start += 1
    if isEmpty {
      requests.removeAll(keepingCapacity: start <= 1_024)
      start = 0
    } else if start > 64, start > requests.count / 2 {
      requests.removeFirst(start)
      start = 0
    }
    return first
  }
}
