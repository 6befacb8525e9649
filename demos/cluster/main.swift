// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Draws the Mandelbrot set. Each of the 16 tiles is drawn by a process of its own. One of these processes crashes. Its
// operation fails, and is retried, while this process and the other tiles continue.
//
//   demo-cluster [--on process] [--pause MILLISECONDS]
//   demo-cluster --on slurm --directory DIRECTORY [--pause MILLISECONDS]
//
// On a Slurm cluster, each tile is a job. The nodes must share the directory, and the directory of this program, with
// this machine. The pause is the time for which a tile waits after each line; 0 by default. To watch the program:
//
//   opq-top -- .build/debug/demo-cluster --pause 500

import Operations
import OperationsCommands
import OperationsMonitor  // With this module, opq-top can watch the program.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// In a process that was started for a tile, this call draws the tile and does not return.
await serveRemoteWork(of: MandelbrotTile.self)

/// Returns the value after an option of this program; `nil` if the option is missing.
func value(of option: String) -> String? {
  let arguments = CommandLine.arguments
  guard let index = arguments.firstIndex(of: option) else { return nil }
  return arguments.dropFirst(index + 1).first ?? ""
}

/// Ends this program with a message.
func end(_ message: String) -> Never {
  print("demo-cluster: \(message)")
  exit(2)
}

let place: RemotePlace
switch value(of: "--on") {
case nil, "process": place = .process
case "slurm":
  guard let directory = value(of: "--directory"), directory.hasPrefix("/") else {
    end("--on slurm needs --directory, with an absolute path that the nodes share")
  }
  place = .slurm(SlurmCluster(directory: directory))
case let name?: end("there is no place \(name); use --on process or --on slurm")
}
guard let pause = Int(value(of: "--pause") ?? "0"), pause >= 0 else {
  end("--pause needs a number of milliseconds")
}

let queue = OperationQueue(name: "tiles", maxConcurrentOperationCount: 4)
let tiles = (0..<MandelbrotTile.tileCount).map { row in
  (0..<MandelbrotTile.tileCount).map { column in
    let tile = RetryOperation(maximumAttempts: 2) { attempt in
      let work = MandelbrotTile(
        column: column, row: row, attempt: attempt, pause: .milliseconds(pause))
      return RemoteOperation(work, on: place, name: work.name)
    }
    tile.name = "tile \(column)/\(row)"
    tile.kind = "tile"
    return tile
  }
}
queue.addOperations(tiles.flatMap { $0 })

for row in tiles {
  var lines = [String](repeating: "", count: MandelbrotTile.height)
  for tile in row {
    for (index, line) in try await tile.value.lines.enumerated() { lines[index] += line }
  }
  for line in lines { print(line) }
}
for tile in tiles.flatMap({ $0 }) {
  let attempt = try await tile.value.attempt
  if attempt > 1 { print("\(tile.name ?? ""): drawn by attempt \(attempt), after a crash") }
}
