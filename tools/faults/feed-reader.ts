import { setTimeout as sleep } from 'node:timers/promises';
import { openEventSource } from '@ticketing/testkit/event-source.ts';
import { HttpTransport } from '../import/http-transport.ts';
import { isObject, objectsIn, parseJson } from '../import/json.ts';
import { openRecords, readRecords } from './record-file.ts';

/**
 * A reader of the feed of changes, as a program: `pages` or `stream`, the URL of the gateway, and the FILE to which it
 * appends the events with its cursor. Whenever it is started, it continues after the last cursor in the file.
 */
const [kind = '', url = '', file = ''] = process.argv.slice(2);
const token = process.env.TICKETING_TEST_FAULTS_TOKEN ?? '';
const pauseMs = 200;
const timeoutMs = 15_000;
const pageSize = 100;
const retryableStatuses = new Set([429, 502, 503, 504]);
const records = openRecords(file);
let cursor = readRecords(file)
  .map(({ next }) => next)
  .findLast((next) => typeof next === 'string');

process.on('disconnect', () => process.exit());
const readSome = kind === 'stream' ? follow : pageReader();
for (;;) {
  await readSome().catch(() => undefined);
  await sleep(pauseMs);
}

/** Makes the function that reads pages until there are no more events. */
function pageReader(): () => Promise<void> {
  const transport = new HttpTransport(new URL(url), token, 1, timeoutMs);
  return async () => {
    for (;;) {
      const after = cursor === undefined ? '' : `&after=${encodeURIComponent(cursor)}`;
      const path = `/event?limit=${pageSize}${after}`;
      const response = await transport.send({ method: 'GET', path, wantsBody: true });
      if (response.status !== 200) return noteRefusal(response.status, response.text);
      const page = parseJson(response.text);
      const events = objectsIn(page, 'events');
      if (isObject(page) && page.next !== cursor) keep(events, String(page.next));
      if (events.length === 0) return;
    }
  };
}

/** Follows the feed until the stream ends. */
async function follow(): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, ...(cursor === undefined ? {} : { 'last-event-id': cursor }) };
  const source = await openEventSource(`${url}/event`, headers);
  if (source.status !== 200) return noteRefusal(source.status, await source.body());
  for (let event = await source.next(); event; event = await source.next()) {
    if (event.id !== undefined) keep(event.data === undefined ? [] : [parseJson(event.data)], event.id);
  }
}

/** Records events before the cursor that follows them, so that none is left out, whenever this process is killed. */
function keep(events: readonly unknown[], next: string): void {
  records.add([...events.map((event) => ({ event })), { next }]);
  cursor = next;
}

function noteRefusal(status: number, body: string): void {
  if (retryableStatuses.has(status)) return;
  records.add([{ problem: `the feed responds with ${status}: ${body.slice(0, 300)}` }]);
}
