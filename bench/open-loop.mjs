// Generates load at a fixed rate, however slow the responses are, as many independent clients with one connection each would (open loop). A
// request is due at a fixed time, is sent on an idle connection, and its latency counts from the time at which it was due. Runs in a separate
// process: fork('open-loop.mjs'), send the run, receive the result. Without a rate, each connection sends its next request when it has received
// a response (closed loop), for the given number of seconds or requests. With `stays`, the process keeps its connections open afterwards.
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { NUMBER, firstNumber } from './random-load.mjs';

/** Responses that take longer than this, in milliseconds, count as late, because a client would have given up. */
export const DEADLINE_MS = 1_000;

process.once('message', (run) => {
  void offered(run).then((result) => process.send(result, () => run.stays || process.exit()));
});

/** Sends the texts of `requests` in turn, with NUMBER replaced by a number that has not been used before. `rate` is in requests per second. */
async function offered({ url, requests, connections, rate, seconds = Infinity, requestsToSend = Infinity }) {
  const { hostname, port } = new URL(url);
  const idle = await Promise.all(Array.from({ length: connections }, () => opened(port, hostname)));
  const result = { offered: 0, good: 0, late: 0, shed: 0, other: 0, unsent: 0 };
  const [times, shedTimes] = [[], []];
  const base = firstNumber();
  let [sent, responded] = [0, 0];
  let allResponded;
  const all = new Promise((resolve) => (allResponded = resolve));
  const end = (client, status) => {
    const took = performance.now() - client.dueAt;
    if (status === 503) {
      result.shed += 1;
      shedTimes.push(took);
    } else if (status < 200 || status > 299) result.other += 1;
    else {
      if (took <= DEADLINE_MS) result.good += 1;
      else result.late += 1;
      times.push(took);
    }
    idle.push(client);
    responded += 1;
    if (rate === undefined && sent < requestsToSend && performance.now() < until) send(performance.now());
    if (responded >= requestsToSend) allResponded();
  };
  const send = (dueAt) => {
    const client = idle.pop();
    client.dueAt = dueAt;
    client.end = end;
    client.socket.write(requests[sent % requests.length].replace(NUMBER, base + sent));
    sent += 1;
  };
  const startedAt = performance.now();
  const until = startedAt + seconds * 1_000;
  if (rate === undefined) {
    const first = Math.min(connections, requestsToSend);
    for (let client = 0; client < first; client += 1) send(performance.now());
    if (requestsToSend === 0) allResponded();
    await (seconds === Infinity ? all : pause(seconds * 1_000));
  } else
    for (let now = startedAt; now < until; now = performance.now()) {
      for (;;) {
        const dueAt = startedAt + (result.offered * 1_000) / rate;
        if (dueAt > now) break;
        result.offered += 1;
        if (idle.length > 0) send(dueAt);
        else result.unsent += 1;
      }
      await pause(1);
    }
  const took = (performance.now() - startedAt) / 1_000;
  const counts = Object.fromEntries(Object.entries(result).map(([name, count]) => [name, count / took]));
  return { ...counts, p50: at(times, 0.5), p99: at(times, 0.99), shedP99: at(shedTimes, 0.99) };
}

function opened(port, host) {
  return new Promise((resolve, reject) => {
    const client = { socket: connect(Number(port), host), dueAt: 0, end: undefined };
    let text = '';
    client.socket.setNoDelay().setEncoding('latin1');
    client.socket.on('data', (chunk) => {
      text += chunk;
      const head = text.indexOf('\r\n\r\n');
      if (head < 0) return;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (text.length < head + 4 + length) return;
      const status = Number(text.slice(9, 12));
      text = '';
      client.end(client, status);
    });
    client.socket.once('connect', () => resolve(client)).once('error', reject);
  });
}

function at(times, share) {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
