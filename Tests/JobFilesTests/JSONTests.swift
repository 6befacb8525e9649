// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import Testing

@Suite struct JSONTests {
  private static let example = #"""
    {
      "queues": {"cpu": {"width": 2}, "net": {"width": 8, "rate": 5}},
      "defaults": {"queue": "cpu", "grace": "10s", "shell": "/bin/sh"},
      "environment": {"OUT": "out"},
      "jobs": {
        "fetch": {"run": "mkdir -p \"$OUT\"; seq 9 > \"$OUT/all\"", "queue": "net", "retries": 3, "retry-pause": "2s", "timeout": "5m"},
        "align": {"run": "grep \"$SAMPLE\" \"$OUT/all\" > \"$OUT/$SAMPLE\"", "needs": ["fetch"], "each": {"SAMPLE": [1, 2, 3]}},
        "polish": {"run": "sort \"$OUT/$SAMPLE\" -o \"$OUT/$SAMPLE\"", "needs": ["align[$SAMPLE]"], "each": {"SAMPLE": [1, 2, 3]}},
        "merge": {"run": "cat \"$OUT\"/[123] > \"$OUT/merged\"", "needs": ["polish"], "priority": "high"},
        "deploy": {"run": "cp \"$OUT/merged\" site", "needs": ["merge"], "once": true},
        "notify": {"run": "echo \"$OPQ_RESULT\"", "needs": ["deploy"], "when": "always"}
      }
    }
    """#

  @Test("JF-16: the example in JSON has the same plan as in YAML, with one line number more")
  func sameAsYAML() throws {
    let json = try Reading.plan(Self.example, name: "jobs.JSON")
    // The first line of the JSON file has only a bracket.
    let yaml = try Reading.plan("# comment\n" + Reading.example)
    #expect(json == yaml)
  }

  private func command(_ string: String) throws -> String? {
    try Reading.plan("{\"jobs\": {\"a\": {\"run\": \(string)}}}", name: "a.json").jobs.first?
      .command
  }

  @Test("JF-16: escape sequences in strings become characters")
  func escapes() throws {
    #expect(
      try command(#""\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00ü😀""#)
        == "\"\\/\u{8}\u{c}\n\r\tAé😀ü😀")
  }

  @Test(
    "JF-7, JF-16: numbers and booleans are texts as they are written",
    arguments: ["0", "-1", "1e3", "1.50", "12E+2", "3e-4", "true", "false"])
  func numbers(text: String) throws {
    #expect(try command(text) == text)
  }

  @Test("JF-16: a byte order mark and other line ends are permitted")
  func lineEnds() throws {
    let plan = try Reading.plan(
      "\u{FEFF}{\r\n\"jobs\":\r\n{\"a\": {\"run\": \"x\"}}}\n", name: "a.json")
    #expect(plan.jobs.map(\.line) == [3])
  }

  @Test(
    "JF-14, JF-16: a file that is not JSON is refused with the line",
    arguments: [
      ("{\n", #"2: the file is not JSON: a key in quotation marks is missing"#),
      ("", "1: the file is empty"),
      (" \n ", "1: the file is empty"),
      ("{\"a\"\n 1}", #"2: the file is not JSON: a ":" is missing after the key "a""#),
      ("{\"a\": 1\n\n\"b\": 2}", #"3: the file is not JSON: a "," or a "}" is missing"#),
      ("[1\n2]", #"2: the file is not JSON: a "," or a "]" is missing"#),
      ("[1,]", "1: the file is not JSON: a value is missing or is not in quotation marks"),
      ("[1,", "1: the file is not JSON: a value is missing at the end"),
      ("{,}", "1: the file is not JSON: a key in quotation marks is missing"),
      ("[yes]", "1: the file is not JSON: a value is missing or is not in quotation marks"),
      ("[null]", "1: a job file cannot have the value null"),
      ("[012]", "1: the file is not JSON: a number begins with 0"),
      ("[1.]", "1: the file is not JSON: a digit is missing in a number"),
      ("[-]", "1: the file is not JSON: a digit is missing in a number"),
      ("[\"a", "1: the file is not JSON: a quotation mark is missing at the end"),
      ("[\"a\\", "1: the file is not JSON: a quotation mark is missing at the end"),
      (
        "[\"a\nb\"]",
        "1: the file is not JSON: a string has a line break or another control character"
      ),
      ("[\"\\x\"]", "1: the file is not JSON: a string has an unknown escape sequence"),
      (
        "[\"\\u12g4\"]", "1: the file is not JSON: an escape sequence \\u does not have four digits"
      ),
      ("[\"\\ud83d\"]", "1: the file is not JSON: a string has half of a surrogate pair"),
      ("[\"\\ude00\"]", "1: the file is not JSON: a string has half of a surrogate pair"),
      ("[\"\\ud83d\\ud83d\"]", "1: the file is not JSON: a string has half of a surrogate pair"),
      ("{}\n{}", "2: the file is not JSON: text follows the value of the file"),
      ("// comment", "1: the file is not JSON: a value is missing or is not in quotation marks"),
    ])
  func syntax(text: String, message: String) {
    #expect(Reading.mistake(text, name: "a.json") == "a.json:" + message)
  }

  @Test("JF-11: a repeated key in JSON is refused at the line at which it is given first")
  func repeatedKey() {
    #expect(
      Reading.mistake("{\"jobs\": {\n\"a\": {\"run\": \"x\"},\n\"a\": {}}}", name: "a.json")
        == #"a.json:2: the key "a" is given twice in one mapping"#)
  }

  @Test("JF-10: a mistake in a JSON file has the line of the key")
  func unknownKey() {
    #expect(
      Reading.mistake("{\"jobs\": {\n\"a\": {\n\"ru\": \"x\"}}}", name: "a.json")
        == #"a.json:3: the job "a" has the unknown key "ru"; did you mean "run"?"#)
  }
}
