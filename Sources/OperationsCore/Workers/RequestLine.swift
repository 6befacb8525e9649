// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Requests that wait, in the order of their numbers.
struct RequestLine {
  typealias Request = WorkerPoolState.Request

  private var requests: [Request] = []
  /// The requests before this index have been taken.
  private var start = 0

  var isEmpty: Bool { start == requests.count }
  var count: Int { requests.count - start }
  var first: Request? { isEmpty ? nil : requests[start] }
  var all: ArraySlice<Request> { requests[start...] }

  /// Adds the request with the highest number so far.
  mutating func append(_ request: Request) { requests.append(request) }

  /// Adds a request that was in a line before, at the place of its number.
  mutating func insert(_ request: Request) {
    let index = requests[start...].firstIndex { $0.number > request.number } ?? requests.count
    if index == start, start > 0 {
      start -= 1
      requests[start] = request
    } else {
      requests.insert(request, at: index)
    }
  }

  @discardableResult
  mutating func popFirst() -> Request? {
    guard let first else { return nil }
    start += 1
    if isEmpty {
      requests.removeAll(keepingCapacity: start <= 4_096)
      start = 0
    } else if start > 64, start > requests.count / 2 {
      requests.removeFirst(start)
      start = 0
    }
    return first
  }

  /// Removes the requests for which `isWanted` returns `true`.
  mutating func take(where isWanted: (Request) -> Bool) -> [Request] {
    // Most often there is no such request.
    guard requests[start...].contains(where: isWanted) else { return [] }
    let taken = requests[start...].filter(isWanted)
    requests = requests[start...].filter { !isWanted($0) }
    start = 0
    return taken
  }
}
