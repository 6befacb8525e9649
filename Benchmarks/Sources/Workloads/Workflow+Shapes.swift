// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Workflows with published structures, generated for any number of tasks.
///
/// The levels of a workflow, the dependencies of a task of each kind, and the proportions of the kinds are the
/// published ones. The number of tasks is `size`, or up to five less if the structure does not allow `size`.
extension Workflow {
  /// Returns a Montage workflow, which combines images of the sky into one image.
  ///
  /// Each image is projected (`mProject`). Each pair of images that overlap is compared (`mDiffFit`, which has two
  /// dependencies). One task collects all results (`mConcatFit`), and one computes corrections from them
  /// (`mBgModel`). Each image is corrected (`mBackground`), which needs the corrections and the projected image.
  /// Four tasks, one after the other, list all corrected images, and add, shrink and convert them.
  ///
  /// The images are a grid with as many rows as columns, and each image overlaps its left, upper and upper left
  /// neighbours. This leads to almost three pairs for each image, as in the measured workflow of about 10,000 tasks.
  ///
  /// Sources: Bharathi, Chervenak, Deelman, Mehta, Su and Vahi, "Characterization of Scientific Workflows" (2008),
  /// for the structure; Juve, Chervenak, Deelman, Bharathi, Mehta and Vahi, "Characterizing and Profiling
  /// Scientific Workflows" (2013), for the proportions and the approximate run times.
  ///
  /// - Precondition: `size` is at least 50.
  public static func montage(_ size: Int) -> Workflow {
    precondition(size >= 50, "A Montage workflow of fewer than 50 tasks is not supported")
    let width = Int((Double(size) / 5).squareRoot())
    var pairs: [[Int]] = []
    var images = 0
    while true {
      var neighbours: [Int] = []
      if images % width > 0 { neighbours.append(images - 1) }
      if images >= width { neighbours.append(images - width) }
      if neighbours.count == 2 { neighbours.append(images - width - 1) }
      if 2 * (images + 1) + pairs.count + neighbours.count + 6 > size { break }
      pairs += neighbours.map { [$0, images] }
      images += 1
    }
    var workflow = Workflow(millisecondsPerSecond: 4)
    let projected = workflow.add("mProject", seconds: 1.73, count: images)
    let fits = workflow.add("mDiffFit", seconds: 0.66, count: pairs.count) { pair in
      pairs[pair].map { projected.lowerBound + $0 }
    }
    let table = workflow.add("mConcatFit", seconds: 143) { _ in Array(fits) }
    let model = workflow.add("mBgModel", seconds: 384) { _ in Array(table) }
    let corrected = workflow.add("mBackground", seconds: 1.72, count: images) { image in
      [projected.lowerBound + image, model.lowerBound]
    }
    let list = workflow.add("mImgtbl", seconds: 2.78) { _ in Array(corrected) }
    let mosaic = workflow.add("mAdd", seconds: 282) { _ in Array(list) }
    let small = workflow.add("mShrink", seconds: 66) { _ in Array(mosaic) }
    workflow.add("mJPEG", seconds: 0.64) { _ in Array(small) }
    return workflow
  }

  /// Returns an Epigenomics workflow, which maps pieces of DNA to their places in a genome.
  ///
  /// Each lane of the sequencer is split into chunks (`fastqSplit`), about 18 for each lane. Each chunk passes through
  /// a pipeline of four tasks (`filterContams`, `sol2sanger`, `fastq2bfq` and `map`). One task for each lane
  /// combines the results of its chunks (`mapMerge`), and another one combines those of all lanes. Two tasks, one after
  /// the other, process the result (`maqIndex` and `pileup`).
  ///
  /// A larger workflow has more lanes. A workflow of 529 tasks has 7 lanes and 128 chunks.
  ///
  /// Sources: Bharathi and others (2008) for the structure, Juve and others (2013) for the proportions and the
  /// approximate run times; see ``montage(_:)``.
  ///
  /// - Precondition: `size` is at least 80.
  public static func epigenomics(_ size: Int) -> Workflow {
    precondition(size >= 80, "An Epigenomics workflow of fewer than 80 tasks is not supported")
    // A lane has a task that splits, one that merges, and 18 pipelines of four tasks.
    let lanes = (size - 3) / (2 + 18 * 4)
    let chunks = (size - 3 - 2 * lanes) / 4
    let chunksOfLanes = split(chunks, into: lanes)
    let laneOfChunk = chunksOfLanes.enumerated().flatMap { lane, chunks in chunks.map { _ in lane }
    }

    var workflow = Workflow(millisecondsPerSecond: 2)
    let splits = workflow.add("fastqSplit", seconds: 34, count: lanes)
    var last = workflow.add("filterContams", seconds: 2.47, count: chunks) { chunk in
      [splits.lowerBound + laneOfChunk[chunk]]
    }
    for (program, seconds) in [("sol2sanger", 0.48), ("fastq2bfq", 1.4), ("map", 202)] {
      let previous = last
      last = workflow.add(program, seconds: seconds, count: chunks) { chunk in
        [previous.lowerBound + chunk]
      }
    }
    let merged = workflow.add("mapMerge", seconds: 11, count: lanes) { lane in
      chunksOfLanes[lane].map { last.lowerBound + $0 }
    }
    let whole = workflow.add("mapMerge", seconds: 11) { _ in Array(merged) }
    let index = workflow.add("maqIndex", seconds: 44) { _ in Array(whole) }
    workflow.add("pileup", seconds: 56) { _ in Array(index) }
    return workflow
  }

  /// Returns a BLAST workflow, which searches for sequences in a data base.
  ///
  /// One task splits the input (`split_fasta`). One task for each piece searches (`blastall`). When all have
  /// finished, one task combines their results (`cat_blast`), and another one combines their error messages (`cat`).
  ///
  /// Source: WfCommons, "Execution Instances for the BLAST Workflow", for the structure; the approximate run times are
  /// those of its instance `blast-chameleon-small-001`.
  ///
  /// - Precondition: `size` is at least 4.
  public static func blast(_ size: Int) -> Workflow {
    precondition(size >= 4, "A BLAST workflow has at least four tasks")
    var workflow = Workflow(millisecondsPerSecond: 2)
    let split = workflow.add("split_fasta", seconds: 0.05)
    let searches = workflow.add("blastall", seconds: 9.5, count: size - 3) { _ in Array(split) }
    workflow.add("cat_blast", seconds: 0.03) { _ in Array(searches) }
    workflow.add("cat", seconds: 0.01) { _ in Array(searches) }
    return workflow
  }

  /// Returns a 1000Genome workflow, which searches for mutations that people of one population have in common.
  ///
  /// For each chromosome, about 25 tasks read parts of the data (`individuals`), and one task combines their results
  /// (`individuals_merge`). Another task rates the mutations (`sifting`). For each chromosome and each of seven
  /// populations, two tasks analyse the mutations (`mutation_overlap` and `frequency`). Both depend on the combined
  /// data and on the ratings of their chromosome.
  ///
  /// A larger workflow has more chromosomes, as if several genomes were analysed. The published one for 22
  /// chromosomes has 902 tasks.
  ///
  /// Sources: WfCommons, "Execution Instances for the 1000Genome Workflow", for the structure and the numbers; the
  /// description of the Pegasus workflow `1000genome-workflow` for the run times, which are those of the slowest task
  /// of each kind.
  ///
  /// - Precondition: `size` is at least 41.
  public static func thousandGenomes(_ size: Int) -> Workflow {
    precondition(size >= 41, "A 1000Genome workflow of fewer than 41 tasks is not supported")
    let populations = 7
    let chromosomes = size / (25 + 2 + 2 * populations)
    let individuals = size - (2 + 2 * populations) * chromosomes
    let parts = split(individuals, into: chromosomes)

    var workflow = Workflow(millisecondsPerSecond: 0.002)
    let read = workflow.add("individuals", seconds: 11_431, count: individuals)
    let merged = workflow.add("individuals_merge", seconds: 500, count: chromosomes) { chromosome in
      parts[chromosome].map { read.lowerBound + $0 }
    }
    let rated = workflow.add("sifting", seconds: 6, count: chromosomes)
    for (program, seconds) in [("mutation_overlap", 468.0), ("frequency", 1_492)] {
      workflow.add(program, seconds: seconds, count: chromosomes * populations) { position in
        [merged.lowerBound + position / populations, rated.lowerBound + position / populations]
      }
    }
    return workflow
  }

  /// Returns `parts` ranges that contain the numbers below `count` in ascending order. Their lengths differ by at
  /// most one.
  private static func split(_ count: Int, into parts: Int) -> [Range<Int>] {
    (0..<parts).map { part in part * count / parts..<(part + 1) * count / parts }
  }
}
