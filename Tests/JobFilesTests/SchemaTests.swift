// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import Testing

@testable import JobFiles

/// Files of the project.
enum ProjectFile {
  static func text(_ path: String) throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
    return try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }
}

/// Compares the JSON Schema and the reference page with the keys of the reader.
@Suite struct SchemaTests {
  private typealias Object = [String: Any]

  private func schema() throws -> Object {
    let text = try ProjectFile.text("Sources/JobFiles/jobs.schema.json")
    return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? Object)
  }

  /// Returns the part of the schema for a section of the file.
  private func schema(of section: JobFileSection) throws -> Object {
    let schema = try schema()
    let definitions = try #require(schema["$defs"] as? [String: Object])
    switch section {
    case .file: return schema
    case .queue: return try #require(definitions["queue"])
    case .defaults: return try #require(definitions["defaults"])
    case .job: return try #require(definitions["job"])
    case .slurm: return try #require(definitions["slurm"])
    }
  }

  @Test(
    "JF-23: the schema has exactly the keys of each mapping", arguments: JobFileSection.allCases)
  func keys(section: JobFileSection) throws {
    let schema = try schema(of: section)
    let properties = try #require(schema["properties"] as? Object)
    #expect(Set(properties.keys) == Set(section.keys.map(\.name)))
    #expect(schema["additionalProperties"] as? Bool == false)
    #expect(schema["type"] as? String == "object")
  }

  @Test("JF-23: the schema has the kind of each key", arguments: JobFileSection.allCases)
  func kinds(section: JobFileSection) throws {
    let properties = try #require(try schema(of: section)["properties"] as? [String: Object])
    for key in section.keys {
      let property = try #require(properties[key.name])
      let reference = property["$ref"] as? String
      let type = property["type"] as? String
      switch key.kind {
      case .text: #expect(reference == "#/$defs/text")
      case .queueName: #expect(reference == "#/$defs/name")
      case .duration: #expect(reference == "#/$defs/duration")
      case .integer(let range):
        #expect(type == "integer")
        #expect(property["minimum"] as? Int == range.lowerBound)
        #expect(property["maximum"] as? Int == range.upperBound)
      case .boolean: #expect(type == "boolean")
      case .choice(let names): #expect(property["enum"] as? [String] == names)
      case .list: #expect(type == "array")
      case .mapping:
        #expect(type == "object" || reference == "#/$defs/\(key.name)")
      }
    }
  }

  @Test("JF-23: the schema requires the keys that the reader requires")
  func requiredKeys() throws {
    #expect(try schema(of: .file)["required"] as? [String] == ["jobs"])
    #expect(try schema(of: .job)["required"] as? [String] == ["run"])
  }

  @Test("JF-23: the reference page has a row for each key", arguments: JobFileSection.allCases)
  func page(section: JobFileSection) throws {
    let page = try ProjectFile.text("Sources/opq-top/JobFile.md")
    for key in section.keys {
      #expect(page.contains("\n| `\(key.name)` | "), "\(key.name)")
      if case .choice(let names) = key.kind {
        for name in names { #expect(page.contains("`\(name)`"), "\(name)") }
      }
    }
  }

  @Test("JF-1, JF-23: the example of the reference page is the example of the tests")
  func example() throws {
    let page = try ProjectFile.text("Sources/opq-top/JobFile.md")
    #expect(page.contains("```yaml\n\(Reading.example)\n```"))
  }
}
