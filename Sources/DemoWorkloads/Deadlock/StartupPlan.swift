// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The plan of an application's start with three deadlocks. The plan depends only on the seed and the number
/// of the round.
///
/// In the first deadlock, three operations wait for each other. In the second, two operations hold all slots
/// of a queue and wait for two operations of the same queue. In the third, an operation waits for an
/// operation that is never added to a queue.
struct StartupPlan: Equatable, Sendable {
  /// The queue for the application's start.
  static let startup = WorkloadQueue(name: "startup", width: 4)
  /// The queue whose slots are all held by operations that wait for other operations of the same queue.
  static let imports = WorkloadQueue(name: "import", width: 2)

  /// All operations of the plan. The operations of each queue are added in this order.
  let tasks: [PlannedTask]
  /// The operations of the dependency cycle. Each one depends on the next one, and the last one depends on
  /// the first.
  let cycle: [PlannedTask.ID]
  /// The operations that depend on the cycle. They cannot start before the cycle is broken.
  let behindCycle: [PlannedTask.ID]
  /// A dictionary with the operations that hold all slots of the queue ``imports``. For each of these
  /// operations, the value is the operation that it waits for while it runs.
  let holders: [PlannedTask.ID: PlannedTask.ID]
  /// The operation that is never added to a queue.
  let forgotten: PlannedTask.ID

  /// Creates the plan of one start of the application.
  ///
  /// - Parameters:
  ///   - seed: The seed that determines how long each operation takes.
  ///   - round: The number of the round, counted from 1.
  ///   - firstID: The first unused id. The plan uses this id and ids that follow it.
  init(seed: UInt64, round: Int, firstID: Int) {
    var list = StartupTaskList(
      firstID: firstID, generator: SeededGenerator(seed: seed, stream: UInt64(round)))
    let cycleNames = ["load configuration", "fetch secrets", "open vault"]
    cycle = cycleNames.indices.map { list.id(of: $0) }
    for (position, name) in cycleNames.enumerated() {
      list.append(name, after: [cycle[(position + 1) % cycle.count]])
    }
    behindCycle = list.appendApplication(behind: cycle)
    holders = list.appendImports()
    forgotten = list.appendForgotten()
    tasks = list.tasks
  }
}

/// A list of the planned operations for one start of the application.
private struct StartupTaskList {
  private(set) var tasks: [PlannedTask] = []
  private let firstID: Int
  private var generator: SeededGenerator

  init(firstID: Int, generator: SeededGenerator) {
    self.firstID = firstID
    self.generator = generator
  }

  /// Returns the id of the task at a position of the list. The id depends only on the position, so the caller
  /// can use the id before the task is added.
  func id(of position: Int) -> PlannedTask.ID { PlannedTask.ID(rawValue: firstID + position) }

  @discardableResult
  mutating func append(
    _ name: String, on queue: WorkloadQueue? = StartupPlan.startup,
    after dependencies: [PlannedTask.ID] = [], awaiting awaited: PlannedTask.ID? = nil
  ) -> PlannedTask.ID {
    let id = id(of: tasks.count)
    tasks.append(
      PlannedTask(
        id: id, name: name, queue: queue?.name, dependencies: dependencies, awaited: awaited,
        duration: generator.duration(milliseconds: 400...1_600)))
    return id
  }

  mutating func appendApplication(behind cycle: [PlannedTask.ID]) -> [PlannedTask.ID] {
    let first = tasks.count
    let database = append("open database", after: [cycle[0], cycle[1]])
    let schema = append("migrate schema", after: [database])
    let users = append("warm user cache", after: [schema])
    let prices = append("warm price cache", after: [schema])
    let search = append("open search index", after: [database])
    let mail = append("connect mail server", after: [cycle[1]])
    let templates = append("load templates", after: [cycle[0]])
    let pages = append("compile templates", after: [templates])
    let jobs = append("start job runner", after: [database, mail])
    let server = append("start web server", after: [users, prices, search, pages])
    let port = append("open port 8080", after: [server])
    append("announce start", after: [port, jobs])
    return (first..<tasks.count).map(id)
  }

  mutating func appendImports() -> [PlannedTask.ID: PlannedTask.ID] {
    let queue = StartupPlan.imports
    let first = tasks.count
    // The operations that read files are added after the operations that wait for them. In the opposite
    // order, the operations that read files would start first, and no deadlock would occur.
    let readings = [id(of: first + 2), id(of: first + 3)]
    let orders = append("import orders", on: queue, awaiting: readings[0])
    let customers = append("import customers", on: queue, awaiting: readings[1])
    append("read orders.csv", on: queue)
    append("read customers.csv", on: queue)
    append("read products.csv", on: queue)
    append("match orders", on: queue, after: [orders, customers])
    return [orders: readings[0], customers: readings[1]]
  }

  mutating func appendForgotten() -> PlannedTask.ID {
    let probe = append("probe health", on: nil)
    let join = append("join load balancer", after: [probe])
    append("take traffic", after: [join])
    return probe
  }
}
