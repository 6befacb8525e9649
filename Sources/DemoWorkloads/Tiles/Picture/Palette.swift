// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem

/// A closed ring of colors. After the last color, the first one follows.
struct Palette: Equatable, Sendable {
  let name: String
  /// The color of points that belong to the Mandelbrot set.
  let inside: Color
  private let ring: [Color]

  /// Creates a ring of colors that blends the given colors (stops) into each other. The stops have equal
  /// distances on the ring. At least two stops are necessary.
  init(name: String, inside: Color, stops: [Color]) {
    self.name = name
    self.inside = inside
    ring = (0..<Self.ringSize).map { index in
      let position = Double(index) * Double(stops.count) / Double(Self.ringSize)
      let from = stops[Int(position)]
      let to = stops[(Int(position) + 1) % stops.count]
      // Between two stops, the weight is half a cosine wave. Therefore no stop is visible as a sharp change.
      let weight = (1 - cmonitor_cosine((position - position.rounded(.down)) * .pi)) / 2
      func mix(_ channel: KeyPath<Color, UInt8>) -> UInt8 {
        UInt8(
          (Double(from[keyPath: channel]) * (1 - weight)
            + Double(to[keyPath: channel]) * weight).rounded())
      }
      return Color(red: mix(\.red), green: mix(\.green), blue: mix(\.blue))
    }
  }

  /// Returns the color at a position on the ring. A position is a number of turns, so all whole numbers mean
  /// the same position.
  func color(at turns: Double) -> Color {
    let fraction = turns - turns.rounded(.down)
    return ring[Int(fraction * Double(Self.ringSize)) % Self.ringSize]
  }

  private static let ringSize = 2048
}

extension Palette {
  /// The palettes for the pictures of tile pyramids.
  static let all = [dusk, ember, lagoon, orchid]

  private static let dusk = Palette(
    name: "dusk", inside: Color(red: 6, green: 6, blue: 20),
    stops: [
      Color(red: 10, green: 14, blue: 54), Color(red: 30, green: 82, blue: 164),
      Color(red: 148, green: 206, blue: 238), Color(red: 252, green: 244, blue: 216),
      Color(red: 250, green: 172, blue: 62), Color(red: 150, green: 48, blue: 34),
    ])

  private static let ember = Palette(
    name: "ember", inside: Color(red: 12, green: 4, blue: 6),
    stops: [
      Color(red: 28, green: 6, blue: 26), Color(red: 118, green: 16, blue: 42),
      Color(red: 226, green: 74, blue: 26), Color(red: 255, green: 196, blue: 74),
      Color(red: 255, green: 248, blue: 222), Color(red: 92, green: 110, blue: 140),
    ])

  private static let lagoon = Palette(
    name: "lagoon", inside: Color(red: 2, green: 12, blue: 18),
    stops: [
      Color(red: 2, green: 26, blue: 44), Color(red: 0, green: 96, blue: 112),
      Color(red: 48, green: 182, blue: 160), Color(red: 222, green: 246, blue: 206),
      Color(red: 244, green: 190, blue: 98), Color(red: 120, green: 64, blue: 66),
    ])

  private static let orchid = Palette(
    name: "orchid", inside: Color(red: 10, green: 4, blue: 22),
    stops: [
      Color(red: 22, green: 8, blue: 58), Color(red: 92, green: 40, blue: 150),
      Color(red: 222, green: 96, blue: 172), Color(red: 255, green: 224, blue: 214),
      Color(red: 120, green: 186, blue: 226), Color(red: 24, green: 62, blue: 122),
    ])
}
