// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

/// The messages about mistakes, with their lines.
@Suite struct MistakeTests {
  /// A mistake in a file, and its message without the name of the file.
  struct Case: CustomTestStringConvertible {
    let text: String
    let message: String
    var testDescription: String { message }

    init(_ text: String, _ message: String) {
      self.text = text
      self.message = message
    }
  }

  private func check(_ mistake: Case) {
    #expect(Reading.mistake(mistake.text) == "jobs.yaml:" + mistake.message)
  }

  @Test("JF-15: a job that waits for a failure and needs no job is refused")
  func failureWithoutNeeds() {
    check(
      Case(
        "jobs:\n  alarm: {run: x, when: failure}",
        #"2: the job "alarm" has "when: failure", but it needs no job"#))
  }

  @Test(
    "JF-10: an unknown key is refused with the nearest key",
    arguments: [
      Case(
        "jobs:\n  a:\n    run: x\n    tiemout: 5s",
        #"4: the job "a" has the unknown key "tiemout"; did you mean "timeout"?"#),
      Case("jbos: {}", #"1: the file has the unknown key "jbos"; did you mean "jobs"?"#),
      Case(
        "queues:\n  cpu: {widht: 1}",
        #"2: the queue "cpu" has the unknown key "widht"; did you mean "width"?"#),
      Case(
        "queues: {cpu: {zzzzzz: 1}}",
        #"1: the queue "cpu" has the unknown key "zzzzzz"; the keys are "width", "rate""#),
      Case(
        "defaults: {run: x}",
        #"1: "defaults" has the unknown key "run"; the keys are "queue", "priority", "timeout", "#
          + #""retries", "retry-pause", "grace", "shell", "slurm""#),
      Case("jobs: {a: {run: x, xyzxyz: 1}}", #"1: the job "a" has the unknown key "xyzxyz""#),
    ])
  func unknownKey(mistake: Case) { check(mistake) }

  @Test(
    "JF-10: an unknown need, queue, value or variable is refused with the nearest one",
    arguments: [
      Case(
        "jobs:\n  align: {run: x}\n  b:\n    run: x\n    needs:\n    - alin",
        #"6: the job "b" needs the unknown job "alin"; did you mean "align"?"#),
      Case(
        "jobs:\n  a: {run: x, each: {N: [10, 20]}}\n  b: {run: x, needs: ['a[$N]'], each: {N: [10, 21]}}",
        #"3: the job "b[21]" needs the unknown job "a[21]"; did you mean "a[20]"?"#),
      Case(
        "jobs: {a: {run: x, needs: ['a[1]']}, b: {run: x}}",
        #"1: the job "a" needs the unknown job "a[1]"; the jobs are "a""#),
      Case(
        "queues: {net: {}}\njobs: {a: {run: x, queue: nte}}",
        #"2: the job "a" uses the unknown queue "nte"; did you mean "net"?"#),
      Case(
        "queues: {net: {}}\ndefaults: {queue: elsewhere}",
        #"2: "defaults" uses the unknown queue "elsewhere"; the queues are "net", "default""#),
      Case(
        "jobs: {a: {run: x, when: allways}}",
        #"1: "when" of the job "a" is "allways", which is not a value of it; did you mean "always"?"#
      ),
      Case(
        "jobs: {a: {run: x, priority: urgent}}",
        #"1: "priority" of the job "a" is "urgent", which is not a value of it; the values are "#
          + #""very-low", "low", "normal", "high", "very-high""#),
      Case(
        "jobs: {a: {run: x, needs: ['b[$SAMPEL]'], each: {SAMPLE: [1]}}}",
        #"1: the need "b[$SAMPEL]" of the job "a" has the variable "SAMPEL", which is not in "each"; "#
          + #"did you mean "SAMPLE"?"#),
      Case(
        "jobs: {a: {run: x, needs: ['b$']}}",
        #"1: the need "b$" of the job "a" has the variable "", which is not in "each""#),
    ])
  func unknownName(mistake: Case) { check(mistake) }

  @Test(
    "JF-11: a key that is given twice is refused at the line of the mapping",
    arguments: [
      Case(
        "jobs:\n  a:\n    run: x\n    queue: y\n    run: z",
        #"3: the key "run" is given twice in one mapping"#),
      Case(
        "jobs:\n  no: {run: x}\n  \"no\": {run: x}",
        #"2: the key "no" is given twice in one mapping"#),
    ])
  func repeatedKey(mistake: Case) { check(mistake) }

  @Test(
    "JF-12: a cycle is refused with its path, at the line of its first job in the file",
    arguments: [
      Case("jobs: {a: {run: x, needs: [a]}}", "1: the needs form a cycle: a -> a"),
      Case(
        "jobs:\n  d: {run: x, needs: [c]}\n  a: {run: x, needs: [b]}\n  b: {run: x, needs: [c]}\n"
          + "  c: {run: x, needs: [a]}",
        "3: the needs form a cycle: a -> b -> c -> a"),
      Case(
        "jobs:\n  a: {run: x, needs: ['b[2]']}\n  b: {run: x, needs: [c], each: {N: [1, 2]}}\n"
          + "  c: {run: x, needs: [a], each: {N: [1, 2]}}",
        "2: the needs form a cycle: a -> b[2] -> c[1] -> a"),
      Case(
        "jobs: {a: {run: x, needs: [a], each: {N: [1, 2]}}}",
        "1: the needs form a cycle: a[1] -> a[1]"),
    ])
  func cycle(mistake: Case) { check(mistake) }

  @Test(
    "JF-13: a bad duration is refused",
    arguments: [
      Case(
        "jobs: {a: {run: x, timeout: 30}}",
        #"1: "timeout" of the job "a" is "30", which has no unit; write "30s" for seconds"#),
      Case(
        "jobs:\n  a:\n    run: x\n    retry-pause: 5 minutes",
        #"4: "retry-pause" of the job "a" is "5 minutes", which is not a duration such as 500ms, 1.5s, 5m, 2h "#
          + "or 1d"),
      Case(
        "defaults: {grace: -1s}",
        #"1: "grace" of "defaults" is "-1s", which is not a duration such as 500ms, 1.5s, 5m, 2h or 1d"#
      ),
      Case(
        "jobs: {a: {run: x, timeout: 0s}}", #"1: "timeout" of the job "a" must be longer than 0"#),
      Case(
        "jobs: {a: {run: x, timeout: 99999999d}}",
        #"1: "timeout" of the job "a" is "99999999d", which is more than 100 years"#),
    ])
  func duration(mistake: Case) { check(mistake) }

  @Test(
    "JF-15: a missing or empty value is refused",
    arguments: [
      Case("jobs:\n  a: {run: x}\n  b: {}", #"3: the job "b" has no "run""#),
      Case("jobs: {a: {run: ''}}", #"1: "run" of the job "a" is empty"#),
      Case("jobs: {a: {run: \"\\n \"}}", #"1: "run" of the job "a" is empty"#),
      Case("", "1: the file is empty"),
      Case("# nothing\n", "1: the file is empty"),
      Case("jobs: {}", "1: the file has no jobs"),
      Case("environment: {A: 1}", "1: the file has no jobs"),
      Case("jobs: {a: {run: x, each: {}}}", #"1: "each" of the job "a" has no variable"#),
      Case("jobs: {a: {run: x, each: {N: []}}}", #"1: "N" in "each" of the job "a" has no values"#),
    ])
  func missingValue(mistake: Case) { check(mistake) }

  @Test(
    "JF-15: a value of the wrong kind is refused",
    arguments: [
      Case("- a", "1: the file must be a mapping of keys to values"),
      Case("jobs: [a]", #"1: "jobs" of the file must be a mapping of keys to values"#),
      Case("jobs:\n  a: x", #"2: the job "a" must be a mapping of keys to values"#),
      Case("jobs: {a: {run: [x]}}", #"1: "run" of the job "a" must be a text"#),
      Case("jobs: {a: {run: x, needs: b}}", #"1: "needs" of the job "a" must be a list"#),
      Case(
        "jobs: {a: {run: x, needs: [[b]]}}",
        #"1: each element of "needs" of the job "a" must be a text"#),
      Case("jobs: {a: {run: x, once: yes}}", #"1: "once" of the job "a" must be true or false"#),
      Case(
        "jobs: {a: {run: x, retries: -1}}",
        #"1: "retries" of the job "a" must be a whole number from 0 to 1000"#),
      Case(
        "queues:\n  q:\n    width: 0",
        #"3: "width" of the queue "q" must be a whole number from 1 to 10000"#),
      Case(
        "queues: {q: {rate: \"5\"}}",
        #"1: "rate" of the queue "q" must be a whole number from 1 to 1000000"#),
      Case("environment: {A: [1]}", #"1: the variable "A" must be a text"#),
      Case("environment: {A: \"\\0\"}", #"1: the variable "A" has a null character"#),
      Case("? [a]\n: b", "1: a key must be a text"),
    ])
  func wrongKind(mistake: Case) { check(mistake) }

  @Test(
    "JF-14: a file that is not YAML is refused in one sentence with the line",
    arguments: [
      Case("jobs:\n  a: {run: x", "2: the file is not YAML: did not find expected ',' or '}'"),
      Case("jobs: 'x", "1: the file is not YAML: found unexpected end of stream"),
      Case("jobs: {a: {run: x}}\n---\njobs: {}", "2: the file has more than one YAML document"),
      Case("a\n\u{7}", "2: the file is not YAML: control characters are not allowed"),
    ])
  func syntax(mistake: Case) { check(mistake) }

  @Test("JF-14: a file that is not UTF-8 is refused with the line")
  func encoding() {
    #expect(
      Reading.mistake(Array("a\nb".utf8) + [0xFF]) == "jobs.yaml:2: the file is not UTF-8 text")
  }

  @Test("JF-14: control characters in a message are escaped")
  func escapedMessage() {
    let message = Reading.mistake(
      "jobs: {a: {run: x, \"\\e[2J\\n\\u202E\": 1}}", name: "a\u{1b}\n.yaml")
    #expect(
      message == #"a\x1b\n.yaml:1: the job "a" has the unknown key "\x1b[2J\n\u202e""#)
  }

  @Test("JF-14: a long name is shortened in a message")
  func shortenedMessage() {
    let message = Reading.mistake("jobs: {a: {run: x, \(String(repeating: "y", count: 900)): 1}}")
    #expect(
      message
        == #"jobs.yaml:1: the job "a" has the unknown key "\#(String(repeating: "y", count: 57))...""#
    )
  }

  @Test(
    "JF-21: a name with other characters is refused",
    arguments: ["-a", ".a", "a b", "ä", "a[1]", "a/b", "", "a\\e"])
  func nameOfJob(name: String) {
    for text in ["jobs: {\"\(name)\": {run: x}}", "queues: {\"\(name)\": {}}"] {
      #expect(Reading.mistake(text).contains("cannot be the name of a"))
    }
  }

  @Test(
    "JF-21: the message about a name says which characters are allowed",
    arguments: [
      Case(
        "jobs: {a b: {run: x}}",
        #"1: "a b" cannot be the name of a job: a name has letters from A to Z, digits, "_", "-" and ".", "#
          + #"and does not begin with "-" or ".""#),
      Case(
        "environment: {1A: x}",
        #"1: "1A" cannot be the name of a variable: a name has letters from A to Z, digits and "_", "#
          + "and does not begin with a digit"),
      Case(
        "environment: {OPQ_JOB: x}",
        #"1: "OPQ_JOB" cannot be the name of a variable: "OPQ_" is reserved"#),
      Case(
        "jobs: {a: {run: x, each: {N: ['1,2']}}}",
        #"1: the value "1,2" of "N" in "each" of the job "a" has a comma, a bracket, a "$" or a control character"#
      ),
      Case(
        "jobs: {a: {run: x, each: {N: [1, '1']}}}",
        #"1: the value "1" of "N" in "each" of the job "a" is given twice"#),
    ])
  func allowedCharacters(mistake: Case) { check(mistake) }

  @Test("JF-21: a name has at most 200 characters")
  func lengthOfName() throws {
    let name = String(repeating: "a", count: 200)
    #expect(try Reading.plan("jobs: {\(name): {run: x}}").ids == [name])
    #expect(
      Reading.mistake("jobs: {\(name)a: {run: x}}")
        == #"jobs.yaml:1: the name "\#(String(repeating: "a", count: 57))..." of a job has more than 200 characters"#
    )
  }
}
