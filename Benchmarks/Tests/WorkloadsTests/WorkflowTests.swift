// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing
import Workloads

/// A published workflow that can have any number of tasks.
struct Shape: CustomTestStringConvertible, Sendable {
  let testDescription: String
  /// The number of levels: one more than the number of dependencies on the longest path.
  let levels: Int
  let make: @Sendable (_ size: Int) -> Workflow

  static let all = [
    Shape(testDescription: "Montage", levels: 9) { .montage($0) },
    Shape(testDescription: "Epigenomics", levels: 9) { .epigenomics($0) },
    Shape(testDescription: "BLAST", levels: 3) { .blast($0) },
    Shape(testDescription: "1000Genome", levels: 3) { .thousandGenomes($0) },
  ]
}

@Suite struct WorkflowTests {
  @Test(arguments: Shape.all, [100, 529, 1_000, 20_003, 99_999])
  func aWorkflowHasAlmostTheRequestedNumberOfTasks(shape: Shape, size: Int) {
    #expect((size - 5...size).contains(shape.make(size).count))
  }

  @Test(arguments: Shape.all, [100, 529, 20_003, 1_000_000])
  func edgesLeadToLaterTasksAndAreSortedByDependents(shape: Shape, size: Int) {
    let links = shape.make(size).links
    var last = 0
    var faults = 0
    for edge in links.edges {
      // Edges that only lead to later tasks form no cycle.
      if edge.before < 0 || edge.before >= edge.after || edge.after >= links.count { faults += 1 }
      if edge.after < last { faults += 1 }
      last = edge.after
    }
    #expect(faults == 0)
  }

  @Test(arguments: Shape.all)
  func noDependencyIsRepeated(shape: Shape) {
    let edges = shape.make(5_000).links.edges
    #expect(Set(edges).count == edges.count)
  }

  @Test(arguments: Shape.all, [1_000, 100_000])
  func theNumberOfLevelsDoesNotDependOnTheSize(shape: Shape, size: Int) {
    let links = shape.make(size).links
    var levels = Array(repeating: 1, count: links.count)
    for edge in links.edges {
      levels[edge.after] = max(levels[edge.after], levels[edge.before] + 1)
    }
    #expect(levels.max() == shape.levels)
  }

  @Test(arguments: Shape.all)
  func theStagesContainEachTaskOnce(shape: Shape) {
    let workflow = shape.make(1_000)
    #expect(workflow.stages.flatMap(\.tasks) == Array(0..<workflow.count))
  }

  @Test(arguments: Shape.all)
  func sleepsAreTheSameEachTimeAndLastFrom2To50Milliseconds(shape: Shape) {
    let workflow = shape.make(1_000)
    let sleeps = workflow.sleeps(seed: 1)
    #expect(sleeps.count == workflow.count)
    #expect(sleeps.allSatisfy { .milliseconds(2) <= $0 && $0 <= .milliseconds(50) })
    #expect(workflow.sleeps(seed: 1) == sleeps)
    #expect(workflow.sleeps(seed: 2) != sleeps)
  }
}

@Suite struct WorkflowShapeTests {
  /// The numbers of the dependencies of all tasks of a program.
  private func dependencies(_ program: String, of workflow: Workflow) -> [[Int]] {
    var dependencies: [Int: [Int]] = [:]
    for edge in workflow.links.edges { dependencies[edge.after, default: []].append(edge.before) }
    return tasks(program, of: workflow).map { dependencies[$0] ?? [] }
  }

  private func tasks(_ program: String, of workflow: Workflow) -> [Int] {
    workflow.stages.filter { $0.program == program }.flatMap(\.tasks)
  }

  @Test func montageComparesOverlappingPairsOfImages() {
    let workflow = Workflow.montage(10_429)
    let images = tasks("mProject", of: workflow)
    let pairs = dependencies("mDiffFit", of: workflow)
    #expect(abs(Double(pairs.count) / Double(images.count) - 2.93) < 0.03)
    #expect(
      pairs.allSatisfy { Set($0).count == 2 && images.contains($0[0]) && images.contains($0[1]) })
  }

  @Test func montageCorrectsEachImageWithTheModel() {
    let workflow = Workflow.montage(1_000)
    let images = tasks("mProject", of: workflow)
    let model = tasks("mBgModel", of: workflow)
    let fits = tasks("mDiffFit", of: workflow)
    #expect(workflow.links.roots == images)
    #expect(dependencies("mConcatFit", of: workflow) == [fits])
    #expect(dependencies("mBgModel", of: workflow) == [tasks("mConcatFit", of: workflow)])
    #expect(dependencies("mBackground", of: workflow) == images.map { [$0] + model })
    #expect(dependencies("mImgtbl", of: workflow) == [tasks("mBackground", of: workflow)])
    #expect(dependencies("mAdd", of: workflow) == [tasks("mImgtbl", of: workflow)])
    #expect(dependencies("mShrink", of: workflow) == [tasks("mAdd", of: workflow)])
    #expect(dependencies("mJPEG", of: workflow) == [tasks("mShrink", of: workflow)])
  }

  @Test func epigenomicsOf529TasksHas7LanesAnd128Chunks() {
    let workflow = Workflow.epigenomics(529)
    let counts = workflow.stages.map { "\($0.program) \($0.tasks.count)" }
    #expect(
      counts == [
        "fastqSplit 7", "filterContams 128", "sol2sanger 128", "fastq2bfq 128", "map 128",
        "mapMerge 7", "mapMerge 1", "maqIndex 1", "pileup 1",
      ])
  }

  @Test func epigenomicsMergesTheChunksOfEachLane() {
    let workflow = Workflow.epigenomics(1_000)
    let lanes = tasks("fastqSplit", of: workflow)
    let chunks = tasks("map", of: workflow)
    let merges = dependencies("mapMerge", of: workflow)
    #expect(workflow.links.roots == lanes)
    #expect(merges.dropLast().flatMap { $0 } == chunks)
    #expect(merges.last == tasks("mapMerge", of: workflow).dropLast())
    // A chunk is merged with the chunks that were split from the same lane.
    let splits = dependencies("filterContams", of: workflow).map { $0[0] }
    let lengths = merges.dropLast().map(\.count)
    #expect(splits == zip(lanes, lengths).flatMap { Array(repeating: $0, count: $1) })
    #expect(dependencies("map", of: workflow) == tasks("fastq2bfq", of: workflow).map { [$0] })
  }

  @Test func blastSearchesBetweenASplitAndTwoMerges() {
    let workflow = Workflow.blast(43)
    let searches = tasks("blastall", of: workflow)
    #expect(workflow.links.roots == tasks("split_fasta", of: workflow))
    #expect(dependencies("blastall", of: workflow) == Array(repeating: [0], count: 40))
    #expect(dependencies("cat_blast", of: workflow) == [searches])
    #expect(dependencies("cat", of: workflow) == [searches])
  }

  @Test func thousandGenomesOf902TasksHas22Chromosomes() {
    let workflow = Workflow.thousandGenomes(902)
    let counts = workflow.stages.map { "\($0.program) \($0.tasks.count)" }
    #expect(
      counts == [
        "individuals 550", "individuals_merge 22", "sifting 22", "mutation_overlap 154",
        "frequency 154",
      ])
    #expect(dependencies("individuals_merge", of: workflow).allSatisfy { $0.count == 25 })
  }

  @Test func thousandGenomesAnalysesEachPopulationOfEachChromosome() {
    let workflow = Workflow.thousandGenomes(902)
    let merges = tasks("individuals_merge", of: workflow)
    let ratings = tasks("sifting", of: workflow)
    let expected = zip(merges, ratings).flatMap { Array(repeating: [$0, $1], count: 7) }
    #expect(dependencies("mutation_overlap", of: workflow) == expected)
    #expect(dependencies("frequency", of: workflow) == expected)
    #expect(workflow.links.roots == tasks("individuals", of: workflow) + ratings)
  }
}
