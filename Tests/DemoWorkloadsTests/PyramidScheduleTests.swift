// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import DemoWorkloads

@Suite struct PyramidScheduleTests {
  private func launch(_ number: Int, isUploaded: Bool = true) -> PyramidSchedule.Action {
    .launch(number: number, isUploaded: isUploaded)
  }

  @Test func twoPyramidsAreBuiltAtATime() {
    var schedule = PyramidSchedule(isOnce: false, isTemporary: false)
    #expect(schedule.start() == [launch(1), launch(2)])
    #expect(schedule.built(1) == [launch(3)])
    #expect(schedule.uploaded(1) == [])
    #expect(schedule.built(2) == [launch(4)])
  }

  @Test func aSecondStartChangesNothing() {
    var schedule = PyramidSchedule(isOnce: false, isTemporary: false)
    _ = schedule.start()
    #expect(schedule.start() == [])
  }

  @Test func withoutUploadProgressNewPyramidsHaveNoUploads() {
    var schedule = PyramidSchedule(isOnce: false, isTemporary: false)
    _ = schedule.start()
    #expect(schedule.built(1) == [launch(3)])
    #expect(schedule.built(2) == [launch(4, isUploaded: false)])
    #expect(schedule.built(3) == [launch(5, isUploaded: false)])
    #expect(schedule.built(4) == [launch(6, isUploaded: false)])
    // A pyramid that is built during two uploads is not uploaded. After the two uploads have ended,
    // the next pyramid is uploaded.
    _ = schedule.uploaded(1)
    _ = schedule.uploaded(2)
    #expect(schedule.built(5) == [launch(7)])
  }

  @Test func aOnceRunFinishesWhenItsPyramidIsBuiltAndUploaded() {
    var schedule = PyramidSchedule(isOnce: true, isTemporary: true)
    #expect(schedule.start() == [launch(1)])
    #expect(schedule.built(1) == [])
    #expect(schedule.uploaded(1) == [.finish])
  }

  @Test func aOnceRunMayBeUploadedBeforeItIsBuilt() {
    // The uploads of a pyramid of image tiles may end before the pyramid is built, for example if
    // all uploads were cancelled.
    var schedule = PyramidSchedule(isOnce: true, isTemporary: true)
    _ = schedule.start()
    #expect(schedule.uploaded(1) == [])
    #expect(schedule.built(1) == [.finish])
  }

  @Test func theFilesOfTheTwoLatestPyramidsStay() {
    var schedule = PyramidSchedule(isOnce: false, isTemporary: true)
    _ = schedule.start()
    for number in 1...2 {
      #expect(schedule.uploaded(number) == [])
      #expect(schedule.built(number) == [launch(number + 2)])
    }
    _ = schedule.uploaded(3)
    #expect(schedule.built(3) == [.remove(number: 1), launch(5)])
    _ = schedule.uploaded(4)
    #expect(schedule.built(4) == [.remove(number: 2), launch(6)])
  }

  @Test func theFilesOfAPyramidStayUntilTheUploadEnds() {
    var schedule = PyramidSchedule(isOnce: false, isTemporary: true)
    _ = schedule.start()
    for number in 1...4 { _ = schedule.built(number) }
    // The pyramid of image tiles with the number 4 has no uploads, so it is complete. The files of
    // the pyramids 1, 2 and 3 are still needed for their uploads.
    #expect(schedule.uploaded(1) == [])
    #expect(schedule.uploaded(2) == [.remove(number: 4)])
  }

  @Test func eachSeriesRendersOnePosterAfterTheOther() {
    var schedule = PyramidSchedule(isOnce: false, isTemporary: true, posterSeriesCount: 2)
    #expect(
      schedule.start() == [
        .render(poster: 1, series: 0), .render(poster: 2, series: 1), launch(1), launch(2),
      ])
    #expect(schedule.start() == [])
    #expect(schedule.posterEnded(inSeries: 1) == [.render(poster: 3, series: 1)])
    #expect(schedule.posterEnded(inSeries: 0) == [.render(poster: 4, series: 0)])
  }

  @Test func filesInADirectoryOfTheUsersAreNeverRemoved() {
    var schedule = PyramidSchedule(isOnce: false, isTemporary: false)
    var actions = schedule.start()
    for number in 1...9 { actions += schedule.uploaded(number) + schedule.built(number) }
    let launched = actions.allSatisfy { if case .launch = $0 { true } else { false } }
    #expect(launched)
  }
}
