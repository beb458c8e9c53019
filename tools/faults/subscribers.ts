import { setTimeout as sleep } from 'node:timers/promises';
import type { Print } from '@ticketing/events/operations.ts';
import { type Caller, openCaller } from './caller.ts';
import { type Client, type ClientsOptions, startClient } from './clients.ts';
import { type LogVerdict, readDeliveryLog } from './delivery-log.ts';
import { type Endpoint, startEndpoints, toRecordFile } from './endpoints.ts';
import { startMisbehaviour } from './misbehave.ts';
import { openOperator } from './operator.ts';
import type { Random } from './random.ts';
import { readRecords } from './record-file.ts';
import { judgeSubscriber, parseTicketEvent, type SubscriberVerdict, type TicketEvent } from './subscriber.ts';
import type { ReadMessage } from './verdict.ts';

/** The receivers of webhooks and readers of the feed of a run. */
export interface Subscribers {
  /** The subchannel whose tickets one of the endpoints takes. */
  subchannelId: number;
  /** Makes all receivers behave from now on. */
  behave(): Promise<void>;
  /** Waits until all deliveries are made; those that have failed are sent again. */
  deliverRest(print: Print): Promise<void>;
  /** Compares what was published with what all have received. It waits until the readers have read everything. */
  judge(messages: readonly ReadMessage[]): Promise<SubscribersVerdict>;
  stop(): Promise<void>;
}

/** The results of all subscribers. */
export interface SubscribersVerdict extends LogVerdict {
  subscribers: SubscriberVerdict[];
  /** How many deliveries an operator has sent again. */
  redelivered: number;
}

interface SubscriberOptions extends ClientsOptions {
  random: Random;
}

interface Reader {
  name: string;
  client: Client;
  file: string;
}

const readersDeadlineMs = 60_000;
const subchannelDeadlineMs = 10_000;
const pollMs = 200;

/** Creates webhook endpoints, and starts their receivers and two readers of the feed. */
export async function startSubscribers(options: SubscriberOptions): Promise<Subscribers> {
  const { system, token, dataDir, random, signal } = options;
  const { log, marks } = system;
  const caller = openCaller(system.url, token, signal);
  const startedAt = Math.floor(Date.now() / 1000);
  const subchannel = await caller.request('POST', '/settings/subchannel', { channel: 'chat', name: 'faults' });
  const subchannelId = Number(subchannel.id);
  const endpoints = await startEndpoints({ caller, dataDir, variables: marks, log }, subchannelId);
  await untilTicketsTake(caller, 'chat', subchannelId);
  const readers = ['pages', 'stream'].map((kind) => startReader(options, kind));
  const operator = openOperator(caller);
  const behave = startMisbehaviour({ endpoints, operator, random, log });

  /** Reports the events that an endpoint has not received, although all failed deliveries were sent again. */
  async function unrecovered({ id, name }: Endpoint): Promise<string[]> {
    const since = new Date(startedAt * 1000).toISOString();
    const { count } = await caller.request('POST', `/webhook/${id}/recover`, { since });
    return count === 0 ? [] : [`${name}: recover finds ${count} events that are not delivered`];
  }

  return {
    subchannelId,
    behave,
    deliverRest: (print) => operator.deliverRest(endpoints, print),
    async judge(messages) {
      const published = messages.flatMap(({ event }) => event ?? []);
      const deleted = new Set(messages.filter(({ isDeletion }) => isDeletion).map(({ subject }) => subject));
      await untilRead(readers, new Set(published.map(({ id }) => id)).size);
      const { responsesShown, wrong } = await readDeliveryLog(caller, endpoints, (id) => deleted.has(`ticket ${id}`));
      const subscribers = [
        ...endpoints.map(({ name, takes, file }) => ({ name: `webhook, ${name}`, takes, ...received(file) })),
        ...readers.map(({ name, file }) => ({ name, takes: () => true, ...received(file) })),
      ].map((one) => judgeSubscriber(published, one));
      // This comes last, because it sends the lost events.
      for (const endpoint of endpoints) wrong.push(...(await unrecovered(endpoint)));
      return {
        subscribers,
        responsesShown,
        wrong,
        redelivered: operator.redelivered(),
      };
    },
    async stop() {
      caller.close();
      await Promise.all([
        ...endpoints.map(({ receiver }) => receiver.stop()),
        ...readers.map(({ client }) => client.stop()),
      ]);
    },
  };
}

/** Waits until tickets of a channel can have a subchannel. */
export async function untilTicketsTake(caller: Caller, channel: string, subchannelId: number): Promise<void> {
  const deadline = Date.now() + subchannelDeadlineMs;
  for (;;) {
    try {
      await caller.request('POST', '/ticket', { channel, subchannelId });
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await sleep(pollMs);
  }
}

function startReader({ system, token, dataDir }: SubscriberOptions, kind: string): Reader {
  const name = `feed, ${kind}`;
  const file = toRecordFile(dataDir, name);
  const client = startClient({
    name: `reader of ${name}`,
    program: 'feed-reader.ts',
    args: [kind, system.url.origin, file],
    variables: { ...system.marks, TICKETING_TEST_FAULTS_TOKEN: token },
    log: system.log,
  });
  return { name, client, file };
}

/** Waits until all readers have recorded `count` events, or for a minute. */
async function untilRead(readers: readonly Reader[], count: number): Promise<void> {
  const isBehind = ({ file }: Reader) => new Set(received(file).received.map(({ id }) => id)).size < count;
  const deadline = Date.now() + readersDeadlineMs;
  while (readers.some(isBehind) && Date.now() < deadline) await sleep(pollMs);
}

/** Reads the records of a client. The header of a webhook must have the id of the event. */
function received(file: string): { received: TicketEvent[]; problems: string[] } {
  const events: TicketEvent[] = [];
  const problems: string[] = [];
  for (const { id, event: json, next, problem } of readRecords(file)) {
    const event = parseTicketEvent(json);
    if (problem !== undefined) problems.push(String(problem));
    else if (event && (id === undefined || id === event.id)) events.push(event);
    else if (next === undefined) problems.push(`${String(id)} has an event that cannot be read, or another id`);
  }
  return { received: events, problems };
}
