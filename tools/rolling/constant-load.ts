import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Requests that are sent at a constant rate, as long as the system keeps up with it. */
export interface ConstantLoad {
  /** How many requests were sent. */
  readonly sent: number;
  /** The requests that failed, and why, each in a sentence. */
  readonly failures: readonly string[];
  /** The last version that was acknowledged of each ticket. */
  readonly tickets: ReadonlyMap<number, number>;
  /** Resolves when no request is in flight. */
  stop(): Promise<void>;
}

interface LoadOptions {
  url: URL;
  token: string;
  /** Requests per second. */
  rate: number;
}

interface Response {
  status: number;
  text: string;
}

const timeoutMs = 30_000;
/** The limit of requests in flight, so that a machine that is busy with other things is not overloaded. */
const maxInFlight = 8;
/** Tickets that are read and changed. A change of a ticket waits for the one before. */
const changedTickets = 50;

/** Reads of every service; the first of them shows a ticket, for which tickets calls intents. */
const reads = [
  '/ticket/{id}',
  '/tag',
  '/settings/subchannel',
  '/webhook',
  '/aiAgent',
  '/template',
  '/knowledgeSource',
  '/skill',
];

/** Starts to send requests: reads of all services, searches, new tickets and changes of tickets. */
export function startConstantLoad({ url, token, rate }: LoadOptions): ConstantLoad {
  // First in, first out: so every connection is used again soon, and learns in time that its server is going to close.
  const agent = new http.Agent({ keepAlive: true, scheduling: 'fifo' });
  const tickets = new Map<number, number>();
  const busy = new Set<number>();
  const failures: string[] = [];
  const inFlight = new Set<Promise<void>>();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  let sent = 0;
  let isStopping = false;

  async function send(method: string, path: string, content?: object): Promise<Response | undefined> {
    sent += 1;
    const startedAt = new Date().toISOString();
    try {
      const response = await request({ agent, url, method, path, headers }, content);
      if (response.status < 300) return response;
      failures.push(`${startedAt} ${method} ${path}: ${response.status} ${response.text.slice(0, 300)}`);
    } catch (error) {
      failures.push(`${startedAt} ${method} ${path}: ${error instanceof Error ? error.message : String(error)}`);
    }
    return undefined;
  }

  async function create(): Promise<void> {
    const response = await send('POST', '/ticket', {
      channel: 'chat',
      subject: `rolling ${sent}`,
      body: '<p>Hallo</p>',
    });
    if (!response) return;
    const { id, version } = JSON.parse(response.text) as { id: number; version: number };
    tickets.set(id, version);
  }

  async function change(id: number): Promise<void> {
    busy.add(id);
    const response = await send('PATCH', `/ticket/${id}`, { priority: sent % 2 ? 'high' : 'low', status: 'open' });
    if (response) {
      const { ticket } = JSON.parse(response.text) as { ticket: { version: number } };
      tickets.set(id, ticket.version);
    }
    busy.delete(id);
  }

  async function sendNext(turn: number): Promise<void> {
    const known = [...tickets.keys()].slice(-changedTickets);
    const id = known[turn % Math.max(1, known.length)];
    if (id === undefined || turn % 5 === 0) return create();
    if (turn % 5 === 1) {
      const free = known.find((one) => !busy.has(one) && one % 7 === turn % 7) ?? known.find((one) => !busy.has(one));
      return free === undefined ? create() : change(free);
    }
    if (turn % 5 === 2) return void (await send('POST', '/ticket/search', { filters: [], limit: 20 }));
    const path = reads[Math.floor(turn / 5) % reads.length] ?? '/tag';
    await send('GET', turn % 5 === 3 ? `/ticket/${id}` : path.replace('{id}', String(id)));
  }

  const running = (async () => {
    const startedAt = performance.now();
    for (let turn = 0; !isStopping; turn += 1) {
      const waitMs = startedAt + (turn * 1000) / rate - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      while (inFlight.size >= maxInFlight) await Promise.race(inFlight);
      const one = sendNext(turn).finally(() => inFlight.delete(one));
      inFlight.add(one);
    }
  })();

  return {
    get sent() {
      return sent;
    },
    failures,
    tickets,
    async stop() {
      isStopping = true;
      await running;
      await Promise.all(inFlight);
      agent.destroy();
    },
  };
}

interface RequestOptions {
  agent: http.Agent;
  url: URL;
  method: string;
  path: string;
  headers: Record<string, string>;
}

function request({ url, ...options }: RequestOptions, content: object | undefined): Promise<Response> {
  return new Promise((resolve, reject) => {
    const sent = http.request(url, { ...options, timeout: timeoutMs }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.once('error', reject);
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.once('error', reject);
    sent.once('timeout', () => sent.destroy(new Error('no response in time')));
    sent.end(content && JSON.stringify(content));
  });
}
