import { setTimeout as sleep } from 'node:timers/promises';
import { HttpTransport } from '../../tools/import/http-transport.ts';
import { isObject, type JsonObject, parseJson } from '../../tools/import/json.ts';
import type { Ledger, TicketState } from './ledger.ts';
import { type Random, seededRandom } from './random.ts';

/** Writers at work. */
export interface Load {
  /** How often each status was answered; 0 is no answer. */
  answers: ReadonlyMap<number, number>;
  /** The first answers that should not have come. */
  surprises: readonly string[];
  /** Resolves when no request is under way. */
  stop(): Promise<void>;
}

interface LoadOptions {
  url: URL;
  token: string;
  seed: number;
  ledger: Ledger;
  /** Called when a change is acknowledged; `sentAt` is a time of `performance.now()`. */
  onAcknowledged(sentAt: number): void;
}

const writers = 8;
const timeoutMs = 15_000;
/** Between two requests of a writer, in ms, at most. */
const pauseMs = 16;
/** After a request that failed, in ms, at most. */
const failurePauseMs = 100;
const mostTagsOfWriter = 2;
const mostSurprises = 5;
/** The newest tickets, which writers change more often than others. */
const hotTickets = 12;
const statuses = ['open', 'pending', 'closed'];
const priorities = ['low', 'medium', 'high', 'urgent'];
const passingStatuses = new Set([429, 502, 503, 504]);

/** Keeps writers busy until they are stopped; what is answered goes into the ledger. */
export function startLoad(options: LoadOptions): Load {
  const transport = new HttpTransport(options.url, options.token, writers, timeoutMs);
  const shared: Shared = {
    ...options,
    transport,
    answers: new Map(),
    surprises: [],
    tickets: [],
    agents: { last: 1_000_000 },
  };
  let isStopping = false;
  const running = Array.from({ length: writers }, async (_, index) => {
    const writer = new Writer(shared, index, seededRandom(options.seed + index));
    while (!isStopping) await writer.act();
  });
  return {
    answers: shared.answers,
    surprises: shared.surprises,
    async stop() {
      isStopping = true;
      await Promise.all(running);
      transport.close();
    },
  };
}

interface Shared extends LoadOptions {
  transport: HttpTransport;
  answers: Map<number, number>;
  surprises: string[];
  /** The tickets that are not deleted, the newest last. */
  tickets: number[];
  agents: { last: number };
}

/** Undefined: no answer came, so that nothing is known. */
type Answer = { status: number; body: JsonObject; sentAt: number } | undefined;

class Writer {
  readonly #shared: Shared;
  readonly #random: Random;
  readonly #name: string;
  /** The tags that this writer has created, which no other renames. */
  readonly #tags: number[] = [];
  #names = 0;

  constructor(shared: Shared, index: number, random: Random) {
    this.#shared = shared;
    this.#random = random;
    this.#name = `faults ${index}`;
  }

  /** Sends one request of any kind. */
  async act(): Promise<void> {
    const chance = this.#random.next();
    if (chance < 0.2 || this.#shared.tickets.length < hotTickets) await this.#createTicket();
    else if (chance < 0.8) await this.#changeTicket();
    else if (chance < 0.93) await this.#changeSeveral();
    else if (chance < 0.96) await this.#deleteTicket();
    else if (chance < 0.98) await this.#createTag();
    else await this.#renameTag();
    await sleep(this.#random.next() * pauseMs);
  }

  async #createTicket(): Promise<void> {
    const tagIds = this.#random.next() < 0.1 ? this.#someTags() : [];
    const channel = this.#random.pick(['chat', 'phone', 'letter']);
    const ticket = { channel, subject: this.#name, priority: this.#priority(), tags: tagIds };
    const answer = await this.#send('POST', '/ticket', ticket);
    const state = stateOf(answer?.body);
    if (!isSuccess(answer) || !state) return;
    this.#shared.ledger.ticketChanged(state.id, state);
    this.#shared.tickets.push(state.id);
  }

  async #changeTicket(): Promise<void> {
    const id = this.#someTicket();
    const change = { ...this.#change(), ...(this.#random.next() < 0.05 ? { tagIds: this.#someTags() } : {}) };
    const answer = await this.#send('PATCH', `/ticket/${id}`, change);
    const state = stateOf(answer?.body.ticket);
    if (isSuccess(answer) && state) this.#shared.ledger.ticketChanged(id, state);
  }

  async #changeSeveral(): Promise<void> {
    const ticketIds = [...new Set(Array.from({ length: 2 + this.#random.below(4) }, () => this.#someTicket()))];
    this.#shared.agents.last += 1;
    const agentId = this.#shared.agents.last;
    const namesVersions = this.#random.next() < 0.5;
    const changes = ticketIds.map((id) => {
      const version = namesVersions ? this.#shared.ledger.newest.get(id)?.version : undefined;
      return { id, agentId, subject: `bulk ${agentId}`, ...this.#change(), ...(version ? { version } : {}) };
    });
    const answer = await this.#send('PATCH', '/ticket', changes);
    const outcome = isSuccess(answer) ? 'acknowledged' : isRefusal(answer) ? 'refused' : 'unknown';
    this.#shared.ledger.bulkSent({ agentId, ticketIds, outcome });
  }

  async #deleteTicket(): Promise<void> {
    const { tickets, ledger } = this.#shared;
    const id = this.#someTicket();
    const place = tickets.indexOf(id);
    if (place >= 0) tickets.splice(place, 1);
    ledger.deleting(id);
    if (isSuccess(await this.#send('DELETE', `/ticket/${id}`))) ledger.deleted(id);
  }

  async #createTag(): Promise<void> {
    if (this.#tags.length >= mostTagsOfWriter) return this.#renameTag();
    const name = this.#nextName();
    const answer = await this.#send('POST', '/tag', { name });
    const id = answer?.body.id;
    if (!isSuccess(answer) || typeof id !== 'number') return;
    this.#shared.ledger.tagCreated(id, name);
    this.#tags.push(id);
  }

  async #renameTag(): Promise<void> {
    const id = this.#random.pick(this.#tags);
    if (id === undefined) return;
    const name = this.#nextName();
    this.#shared.ledger.tagRenaming(id, name);
    if (isSuccess(await this.#send('PATCH', `/tag/${id}`, { name }))) this.#shared.ledger.tagRenamed(id, name);
  }

  /** A change that makes a version in any case: it carries a status. Some let the scheduler open the ticket again. */
  #change(): JsonObject {
    const status = this.#random.pick(statuses);
    const isDueSoon = status === 'pending' && this.#random.next() < 0.3;
    const dueBy = new Date(Date.now() + 1_000 + this.#random.below(3_000)).toISOString().slice(0, 19).replace('T', ' ');
    return { status, priority: this.#priority(), ...(isDueSoon ? { dueBy } : {}) };
  }

  #priority(): string | undefined {
    return this.#random.pick(priorities);
  }

  #someTicket(): number {
    const { tickets } = this.#shared;
    const among = this.#random.next() < 0.5 ? tickets.slice(-hotTickets) : tickets;
    return this.#random.pick(among) ?? 1;
  }

  #someTags(): number[] {
    const tags = [...this.#shared.ledger.tagNames.keys()];
    return [...new Set([this.#random.pick(tags), this.#random.pick(tags)])].filter((id) => id !== undefined);
  }

  #nextName(): string {
    this.#names += 1;
    return `${this.#name} tag ${this.#names}`;
  }

  async #send(method: string, path: string, content?: unknown): Promise<Answer> {
    const { transport, answers } = this.#shared;
    const sentAt = performance.now();
    const body = content === undefined ? {} : { body: JSON.stringify(content) };
    const answer = await transport.send({ method, path, ...body, wantsBody: true }).catch(() => undefined);
    const status = answer?.status ?? 0;
    answers.set(status, (answers.get(status) ?? 0) + 1);
    if (answer === undefined || passingStatuses.has(status)) {
      await sleep(this.#random.next() * failurePauseMs);
      if (answer === undefined) return undefined;
    }
    const parsed = parseJson(answer.text);
    const read = { status, body: isObject(parsed) ? parsed : {}, sentAt };
    if (isSuccess(read)) this.#shared.onAcknowledged(sentAt);
    else this.#noteSurprise(`${method} ${path.replaceAll(/\d+/g, '…')}`, read);
    return read;
  }

  /** A ticket that another has deleted or changed first is none. */
  #noteSurprise(request: string, { status, body }: NonNullable<Answer>): void {
    const { surprises } = this.#shared;
    if (passingStatuses.has(status) || [404, 409, 412].includes(status) || surprises.length >= mostSurprises) return;
    surprises.push(`${request}: ${status} ${JSON.stringify(body).slice(0, 300)}`);
  }
}

function isSuccess(answer: Answer): boolean {
  return answer !== undefined && answer.status >= 200 && answer.status < 300;
}

/** Whether the system has said that it changed nothing. */
function isRefusal(answer: Answer): boolean {
  return (
    answer !== undefined && ['stale_version', 'ticket_not_found', 'invalid_input'].includes(String(answer.body.code))
  );
}

/** Reads the state of a ticket from an answer. */
export function stateOf(answer: unknown): (TicketState & { id: number }) | undefined {
  if (!isObject(answer) || typeof answer.id !== 'number' || typeof answer.version !== 'number') return undefined;
  const tagIds = Array.isArray(answer.tagIds) ? answer.tagIds.toSorted().join(', ') : '';
  const { id, version } = answer;
  return { id, version, status: String(answer.status), priority: String(answer.priority), tagIds };
}
