import { setTimeout as sleep } from 'node:timers/promises';
import { isObject, type JsonObject } from '../import/json.ts';
import { ExecutionWriter } from './execution-writer.ts';
import type { Ledger, TicketState } from './ledger.ts';
import { isSuccess, type LoadResponse, type LoadSender, openSender, type SenderCounts } from './load-sender.ts';
import { type MailSender, openMailSender } from './mail-sender.ts';
import { type Mailbox, MessageWriter } from './message-writer.ts';
import { type Random, seededRandom } from './random.ts';

/** Writers that send requests until they are stopped. */
export interface Load {
  /** How many responses had each status; 0 stands for no response. */
  statusCounts: ReadonlyMap<number, number>;
  /** The first responses that no fault explains. */
  unexpected: readonly string[];
  /** Resolves when no request is in flight. */
  stop(): Promise<void>;
}

interface LoadOptions {
  url: URL;
  token: string;
  seed: number;
  ledger: Ledger;
  /** A subchannel that some tickets get. */
  subchannelId: number;
  /** The mailbox of the tickets of channel email. */
  mailbox: Mailbox;
  /** The code of the intents that are executed. */
  intentCode: string;
  /** The URL of the service that takes in mails, which may change when the system is restarted. */
  mailUrl(): URL;
  /** Called when a change is acknowledged; `sentAt` is a time of `performance.now()`. */
  onAcknowledged(sentAt: number): void;
}

const writers = 8;
/** The longest pause between two requests of a writer. */
const pauseMs = 16;
const maxTagsOfWriter = 2;
/** How many of the newest tickets are changed more often than others. */
const hotTickets = 12;
const statuses = ['open', 'pending', 'closed'];
const priorities = ['low', 'medium', 'high', 'urgent'];

/** The probability that a request is about messages. */
const messageProbability = 0.4;
/** The probability that a request executes an intent. */
const executionProbability = 0.1;

/** Starts writers that send random requests, and record the responses in the ledger. */
export function startLoad(options: LoadOptions): Load {
  const { url, token, onAcknowledged, mailUrl } = options;
  const counts: SenderCounts = { statusCounts: new Map(), unexpected: [], onAcknowledged };
  const sender = openSender({ url, token, connections: writers, counts });
  const mails = openMailSender(mailUrl, (to) => openSender({ url: to, token, connections: writers, counts }));
  const shared: Shared = { ...options, sender, mails, tickets: [], agents: { last: 1_000_000 } };
  let isStopping = false;
  const running = Array.from({ length: writers }, async (_, index) => {
    const random = seededRandom(options.seed + index);
    const writer = new Writer(shared, index, random);
    const messages = new MessageWriter(shared, index, random);
    const executions = new ExecutionWriter({ ...shared, code: options.intentCode }, random);
    while (!isStopping) {
      const chance = shared.tickets.length < hotTickets ? 1 : random.next();
      if (chance < executionProbability) await executions.sendAny();
      else if (chance < executionProbability + messageProbability) await messages.sendAny();
      else await writer.sendAny();
      await sleep(random.next() * pauseMs);
    }
  });
  return {
    ...counts,
    async stop() {
      isStopping = true;
      await Promise.all(running);
      sender.close();
      mails.close();
    },
  };
}

interface Shared extends LoadOptions {
  sender: LoadSender;
  mails: MailSender;
  /** The tickets that are not deleted, the newest last. */
  tickets: number[];
  agents: { last: number };
}

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

  /** Sends one request of a random kind. */
  async sendAny(): Promise<void> {
    const chance = this.#random.next();
    if (chance < 0.2 || this.#shared.tickets.length < hotTickets) await this.#createTicket();
    else if (chance < 0.8) await this.#changeTicket();
    else if (chance < 0.91) await this.#changeSeveral();
    else if (chance < 0.93) await this.#refreshSeveral();
    else if (chance < 0.96) await this.#deleteTicket();
    else if (chance < 0.98) await this.#createTag();
    else await this.#renameTag();
  }

  async #createTicket(): Promise<void> {
    const tagIds = this.#random.next() < 0.1 ? this.#someTags() : [];
    const channel = this.#random.pick(['chat', 'phone', 'letter']);
    const subchannel = this.#random.next() < 0.4 ? { subchannelId: this.#shared.subchannelId } : {};
    const ticket = { channel, subject: this.#name, priority: this.#priority(), tags: tagIds, ...subchannel };
    const response = await this.#send('POST', '/ticket', ticket);
    const state = toState(response?.body);
    if (!isSuccess(response) || !state) return;
    this.#shared.ledger.ticketChangeAcknowledged(state.id, state);
    this.#shared.tickets.push(state.id);
  }

  async #changeTicket(): Promise<void> {
    const id = this.#someTicket();
    const change = { ...this.#change(), ...(this.#random.next() < 0.05 ? { tagIds: this.#someTags() } : {}) };
    const response = await this.#send('PATCH', `/ticket/${id}`, change);
    const state = toState(response?.body.ticket);
    if (isSuccess(response) && state) this.#shared.ledger.ticketChangeAcknowledged(id, state);
  }

  async #changeSeveral(): Promise<void> {
    const ticketIds = this.#someTickets();
    const agentId = this.#nextAgent();
    const hasVersions = this.#random.next() < 0.5;
    const changes = ticketIds.map((id) => {
      const version = hasVersions ? this.#shared.ledger.newest.get(id)?.version : undefined;
      return { id, agentId, subject: `bulk ${agentId}`, ...this.#change(), ...(version ? { version } : {}) };
    });
    const response = await this.#send('PATCH', '/ticket', changes);
    const outcome = isSuccess(response) ? 'acknowledged' : isRefusal(response) ? 'refused' : 'unknown';
    this.#shared.ledger.bulkSent({ agentId, ticketIds, outcome });
  }

  /** Asks for analyses of tickets: whatever else the elements have, such a request changes nothing. */
  async #refreshSeveral(): Promise<void> {
    const ticketIds = this.#someTickets();
    const agentId = this.#nextAgent();
    const flag = this.#random.pick([{ refreshMode: 'full' }, { refreshMode: 'tags' }, { refresh: true }]);
    const response = await this.#send(
      'PATCH',
      '/ticket',
      ticketIds.map((id) => ({ id, agentId, ...flag })),
    );
    this.#shared.ledger.bulkSent({ agentId, ticketIds, outcome: 'refused' });
    if (isSuccess(response)) this.#shared.ledger.refreshes += 1;
  }

  async #deleteTicket(): Promise<void> {
    const { tickets, ledger } = this.#shared;
    const id = this.#someTicket();
    const index = tickets.indexOf(id);
    if (index >= 0) tickets.splice(index, 1);
    ledger.deletionSent(id);
    if (isSuccess(await this.#send('DELETE', `/ticket/${id}`))) ledger.deletionAcknowledged(id);
  }

  async #createTag(): Promise<void> {
    if (this.#tags.length >= maxTagsOfWriter) return this.#renameTag();
    const name = this.#nextName();
    const response = await this.#send('POST', '/tag', { name });
    const id = response?.body.id;
    if (!isSuccess(response) || typeof id !== 'number') return;
    this.#shared.ledger.tagCreationAcknowledged(id, name);
    this.#tags.push(id);
  }

  async #renameTag(): Promise<void> {
    const id = this.#random.pick(this.#tags);
    if (id === undefined) return;
    const name = this.#nextName();
    this.#shared.ledger.tagRenameSent(id, name);
    if (isSuccess(await this.#send('PATCH', `/tag/${id}`, { name })))
      this.#shared.ledger.tagRenameAcknowledged(id, name);
  }

  /**
   * A random change. It has a status, which makes a new version even if it is the same as before. Some changes have a
   * near `dueBy`, so that the scheduler reopens the ticket.
   */
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
    const candidates = this.#random.next() < 0.5 ? tickets.slice(-hotTickets) : tickets;
    return this.#random.pick(candidates) ?? 1;
  }

  #someTickets(): number[] {
    return [...new Set(Array.from({ length: 2 + this.#random.below(4) }, () => this.#someTicket()))];
  }

  #nextAgent(): number {
    this.#shared.agents.last += 1;
    return this.#shared.agents.last;
  }

  #someTags(): number[] {
    const tags = [...this.#shared.ledger.tagNames.keys()];
    return [...new Set([this.#random.pick(tags), this.#random.pick(tags)])].filter((id) => id !== undefined);
  }

  #nextName(): string {
    this.#names += 1;
    return `${this.#name} tag ${this.#names}`;
  }

  #send(method: string, path: string, content?: unknown): Promise<LoadResponse> {
    return this.#shared.sender.send(this.#random, method, path, content);
  }
}

/** Whether the response says that nothing was changed. */
function isRefusal(response: LoadResponse): boolean {
  return (
    response !== undefined &&
    ['stale_version', 'ticket_not_found', 'invalid_input'].includes(String(response.body.code))
  );
}

/** Reads the state of a ticket from the JSON of a response. */
export function toState(response: unknown): (TicketState & { id: number }) | undefined {
  if (!isObject(response) || typeof response.id !== 'number' || typeof response.version !== 'number') return undefined;
  const tagIds = Array.isArray(response.tagIds) ? response.tagIds.toSorted().join(', ') : '';
  const { id, version } = response;
  return { id, version, status: String(response.status), priority: String(response.priority), tagIds };
}
