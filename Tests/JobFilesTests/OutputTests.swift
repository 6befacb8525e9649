// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import JobFiles
import Testing

@Suite struct OutputTests {
  @Test("JF-19: the plan as text has one line for each job with queue, needs and command")
  func text() throws {
    #expect(
      try Reading.plan(Reading.example).text == #"""
        fetch      net  -         mkdir -p "$OUT"; seq 9 > "$OUT/all"
        align[1]   cpu  fetch     grep "$SAMPLE" "$OUT/all" > "$OUT/$SAMPLE"
        align[2]   cpu  fetch     grep "$SAMPLE" "$OUT/all" > "$OUT/$SAMPLE"
        align[3]   cpu  fetch     grep "$SAMPLE" "$OUT/all" > "$OUT/$SAMPLE"
        polish[1]  cpu  align[1]  sort "$OUT/$SAMPLE" -o "$OUT/$SAMPLE"
        polish[2]  cpu  align[2]  sort "$OUT/$SAMPLE" -o "$OUT/$SAMPLE"
        polish[3]  cpu  align[3]  sort "$OUT/$SAMPLE" -o "$OUT/$SAMPLE"
        merge      cpu  polish    cat "$OUT"/[123] > "$OUT/merged"
        deploy     cpu  merge     cp "$OUT/merged" site
        notify     cpu  deploy    echo "$OPQ_RESULT"

        """#)
  }

  @Test("JF-19: a job follows its needs, also if the file has another order")
  func order() throws {
    let plan = try Reading.plan(
      "jobs: {c: {run: x, needs: [b, a]}, a: {run: x}, b: {run: x, needs: [a]}, d: {run: x}}")
    #expect(
      plan.text
        == "a  default  -    x\nb  default  a    x\nc  default  b a  x\nd  default  -    x\n")
  }

  @Test("JF-14, JF-19: control characters in a command are escaped")
  func escapedText() throws {
    let plan = try Reading.plan("jobs: {a: {run: \"echo\\n\\e[2J\\u202Ex\"}}")
    #expect(plan.text == #"a  default  -  echo\n\x1b[2J\u202ex"# + "\n")
  }

  @Test("JF-20: the plan as JSON has the documented keys")
  func json() throws {
    let plan = try Reading.plan(
      """
      environment: {OUT: out}
      queues: {net: {width: 8, rate: 5}}
      jobs:
        b: {run: 'echo "/"', needs: ['a[2]', c], each: {N: [x]}, timeout: 1.5s, once: true, when: failure}
        a: {run: x, queue: net, each: {N: [1, 2]}, retries: 3, priority: very-low}
        c: {run: x, needs: [a]}
      """)
    let tail = #""retryPause":1,"run":"x","shell":"/bin/sh","when":"success"}"#
    let b =
      #"{"each":{"N":"x"},"grace":10,"id":"b[x]","job":"b","line":4,"needs":["a[2]","c"],"once":true,"#
      + #""priority":"normal","queue":"default","retries":0,"retryPause":1,"run":"echo \"/\"","#
      + #""shell":"/bin/sh","timeout":1.5,"when":"failure"}"#
    func a(_ value: Int) -> String {
      #"{"each":{"N":"\#(value)"},"grace":10,"id":"a[\#(value)]","job":"a","line":5,"needs":[],"once":false,"#
        + #""priority":"very-low","queue":"net","retries":3,"# + tail
    }
    let c =
      #"{"each":{},"grace":10,"id":"c","job":"c","line":6,"needs":["a"],"once":false,"#
      + #""priority":"normal","queue":"default","retries":0,"# + tail
    #expect(
      plan.jsonLine
        == #"{"environment":{"OUT":"out"},"jobs":["# + [a(2), a(1), c, b].joined(separator: ",")
        + #"],"queues":[{"name":"net","rate":5,"width":8},{"name":"default","width":6}]}"# + "\n")
  }

  @Test("JF-20: a job that must not be repeated has no retries, also if the defaults have some")
  func onceHasNoRetries() throws {
    let plan = try Reading.plan(
      "{defaults: {retries: 3}, jobs: {a: {run: x, once: true}, b: {run: x}}}")
    let parts = plan.jsonLine.components(separatedBy: "\"id\":\"b\"")
    #expect(parts[0].contains("\"retries\":0,") && parts[1].contains("\"retries\":3,"))
  }

  @Test("JF-20: the reference page has each key of the plan")
  func documentedKeys() throws {
    let plan = try Reading.plan("jobs: {a: {run: x, timeout: 1s}}")
    let value = try JSONSerialization.jsonObject(with: Data(plan.jsonLine.utf8))
    let object = try #require(value as? [String: Any])
    let job = try #require((object["jobs"] as? [[String: Any]])?.first)
    let page = try ProjectFile.text("Sources/opq-top/JobFile.md")
    for key in [String](object.keys) + job.keys { #expect(page.contains("`\(key)`"), "\(key)") }
  }
}
