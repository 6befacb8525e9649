// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Waiting requests for threads, in the order of their serial numbers.
struct RequestLine {
  typealias Request = WorkerPoolState.Request

  /// A place in the line for a request. The place of a removed request is empty.
  private struct Place {
    let number: UInt64
    var request: Request?
  }

  private var places: [Place] = []
  /// The index of the first request; the number of places if no request waits.
  private var start = 0
  /// The number of waiting requests in this line.
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }
  var first: Request? { isEmpty ? nil : places[start].request }

  /// Adds a request whose serial number is higher than that of each earlier request.
  @inline(__always)
  mutating func append(_ request: Request) {
    places.append(Place(number: request.number, request: request))
    count += 1
  }

  /// Adds a request that was in a line before, at the place for its serial number.
  mutating func insert(_ request: Request) {
    let place = Place(number: request.number, request: request)
    let index = index(of: request.number)
    if index < places.count, places[index].number == request.number {
      places[index] = place
    } else if index == start, start > 0 {
      start -= 1
      places[start] = place
    } else {
      places.insert(place, at: index)
    }
    count += 1
  }

  @discardableResult
  mutating func popFirst() -> Request? {
    guard let first else { return nil }
    leave(start)
    return first
  }

  /// Removes and returns the request with this serial number.
  ///
  /// - Returns: The request; `nil` if this line does not contain it.
  mutating func remove(number: UInt64) -> Request? {
    let index = index(of: number)
    guard index < places.count, places[index].number == number, let request = places[index].request
    else { return nil }
    leave(index)
    return request
  }

  /// Removes and returns all requests for workers that wait in this line.
  mutating func removeAll() -> [Request] {
    let all = places[start...].compactMap(\.request)
    self = RequestLine()
    return all
  }

  /// Returns the index of the first place, from `start` on, whose serial number is `number` or
  /// higher.
  private func index(of number: UInt64) -> Int {
    var (low, high) = (start, places.count)
    while low < high {
      let middle = (low + high) / 2
      if places[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Empties a place of this line. If most places are empty, removes all empty places.
  private mutating func leave(_ index: Int) {
    places[index].request = nil
    count -= 1
    if isEmpty {
      places.removeAll(keepingCapacity: places.count <= 4_096)
      start = 0
      return
    }
    while places[start].request == nil { start += 1 }
    guard places.count > 64, count < places.count / 2 else { return }
    places.removeAll { $0.request == nil }
    start = 0
  }
}
