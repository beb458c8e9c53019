import { Agent, get } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

/** The URL that a reader reads, and its credential. */
export interface ReaderData {
  url: string;
  authorization: string;
}

/** Another address than that of the attackers. */
const localAddress = '127.0.0.2';

// Reads the same ticket again and again in a separate thread, because the attackers occupy theirs. When it gets a
// message, it ends and posts the times of its reads in ms.
const { url, authorization } = workerData as ReaderData;
const agent = new Agent({ keepAlive: true });
const times: number[] = [];
let isOver = false;
parentPort?.once('message', () => {
  isOver = true;
});
while (!isOver) {
  const startedAt = performance.now();
  await read();
  times.push(performance.now() - startedAt);
  await setTimeout(20);
}
agent.destroy();
parentPort?.postMessage(times);

function read(): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  get(url, { agent, localAddress, headers: { authorization } }, async (response) => {
    const body = await text(response);
    if (response.statusCode === 200) resolve();
    else reject(new Error(`${response.statusCode}: ${body}`));
  }).once('error', reject);
  return promise;
}
