import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { freePort } from '@ticketing/testkit/free-port.ts';
import type { Caller } from './caller.ts';
import { type Client, startClient } from './clients.ts';
import type { SystemLog } from './log.ts';
import type { TicketEvent } from './subscriber.ts';

/** A webhook endpoint of the run, with its receiver. */
export interface Endpoint {
  name: string;
  /** The id of the webhook. */
  id: number;
  /** Whether its receiver also fails, hangs and vanishes, and is not only killed. */
  misbehaves: boolean;
  takes(event: TicketEvent): boolean;
  receiver: Client;
  /** The file in which the receiver records accepted deliveries. */
  file: string;
}

export interface EndpointOptions {
  caller: Caller;
  /** The folder of the run, in which the receivers record what they accept. */
  dataDir: string;
  /** Variables of the receivers. */
  variables: Environment;
  log: Pick<SystemLog, 'listen'>;
}

interface Plan {
  name: string;
  misbehaves: boolean;
  eventTypes?: readonly string[];
  isOfSubchannel?: boolean;
}

const plans: readonly Plan[] = [
  { name: 'all events', misbehaves: false },
  { name: 'all events, failing', misbehaves: true },
  { name: 'created, deleted', misbehaves: false, eventTypes: ['ticket.created', 'ticket.deleted'] },
  { name: 'messages', misbehaves: false, eventTypes: ['conversation.created', 'conversation.published'] },
  { name: 'one subchannel, failing', misbehaves: true, isOfSubchannel: true },
];

/** Returns the file in which a client records what it receives, and creates its folder. */
export function toRecordFile(dataDir: string, name: string): string {
  const folder = join(dataDir, 'received');
  mkdirSync(folder, { recursive: true });
  return join(folder, `${name.replaceAll(/\W+/g, '-')}.jsonl`);
}

/** Creates the endpoints of the run, and starts their receivers. One of them takes the tickets of a subchannel. */
export async function startEndpoints(options: EndpointOptions, subchannelId: number): Promise<Endpoint[]> {
  const endpoints: Endpoint[] = [];
  for (const plan of plans) endpoints.push(await startEndpoint(options, plan, subchannelId));
  return endpoints;
}

async function startEndpoint(
  { caller, dataDir, variables, log }: EndpointOptions,
  { name, misbehaves, eventTypes = [], isOfSubchannel = false }: Plan,
  subchannelId: number,
): Promise<Endpoint> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/${name.replaceAll(/\W+/g, '-')}`;
  const subchannelIds = isOfSubchannel ? [subchannelId] : [];
  const { id, secret } = await caller.request('POST', '/webhook', { url, eventTypes, subchannelIds });
  const file = toRecordFile(dataDir, name);
  const receiver = startClient({
    name: `receiver of ${name}`,
    program: 'receiver.ts',
    args: [String(port), file],
    variables: { ...variables, TICKETING_TEST_FAULTS_SECRET: String(secret) },
    log,
  });
  const takes = ({ cause, type, subchannelId: of }: TicketEvent) =>
    cause !== 'refresh' &&
    (eventTypes.length === 0 || eventTypes.includes(type)) &&
    (!isOfSubchannel || of === subchannelId);
  return { name, id: Number(id), misbehaves, takes, receiver, file };
}
