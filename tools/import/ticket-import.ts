import { UsageError } from '../cli/command.ts';
import type { ApiClient } from './api-client.ts';
import type { CsvRow } from './csv-rows.ts';
import type { ApiResponse } from './http-transport.ts';
import type { ImportCount } from './import-count.ts';
import { type JsonObject, objectsIn, parseJson } from './json.ts';
import { findKnownTickets, knownTicketsLimit } from './known-tickets.ts';
import { type Mapping, mapRow } from './map-row.ts';
import { describeError, listReasons } from './problem.ts';
import type { RejectFile } from './rejects.ts';
import { InterruptedError, RejectedError } from './row-errors.ts';
import type { TagDirectory } from './tag-directory.ts';

interface TicketImportParts {
  client: ApiClient;
  tags: TagDirectory;
  mapping: Mapping;
  rejects: RejectFile;
  count: ImportCount;
  /** The beginning of the external ids of all rows of the file. */
  fileId: string;
  process: string;
  limit: number;
  /** The fraction of the import that is done once a row is done: 0 to 1. */
  doneFractionAt: (row: CsvRow) => number;
}

interface PendingTicket {
  row: CsvRow;
  ticket: Record<string, unknown>;
  answer: string | undefined;
  tagNames: string[];
}

/** A row whose ticket the system has, perhaps without its answer. */
interface KnownTicket extends PendingTicket {
  answer: string;
  knownId: number;
}

/** What one request sends: new tickets with their answers, or the answer of a ticket that is there. */
type Work = { tickets: PendingTicket[] } | { known: KnownTicket };

/** A new ticket as an element of the request, with its answer. */
interface Element {
  pending: PendingTicket;
  body: object;
}

/** The import ends after this many tickets in a row whose request was responded to with a status of 500 or above. */
const maxFailuresInARow = 20;
/** A request has at most so many tickets, and bytes, so that it takes a few seconds. */
const ticketsPerRequest = 100;
const bytesPerRequest = 4 * 1024 * 1024;

/** Imports the rows of one file, each exactly once. */
export class TicketImport {
  readonly #parts: TicketImportParts;
  readonly #path: string;
  #failuresInARow = 0;

  constructor(parts: TicketImportParts) {
    this.#parts = parts;
    this.#path = `/ticket/bulk?process=${parts.process}`;
  }

  /**
   * Sends the tickets that the system does not have yet, and all answers, by `concurrency` requests at a time.
   *
   * Errors: the first UsageError of a sender, else an InterruptedError.
   */
  async run(rows: AsyncGenerator<CsvRow>, concurrency: number, stop: AbortController): Promise<void> {
    const pending = this.#pending(rows);
    const sendAll = async (): Promise<void> => {
      for (;;) {
        if (stop.signal.aborted) throw new InterruptedError('interrupted');
        const next = await pending.next();
        if (next.done) return;
        if ('known' in next.value) await this.#sendAnswer(next.value.known);
        else await this.#sendTickets(next.value.tickets);
      }
    };
    const senders = Array.from({ length: concurrency }, () => sendAll());
    for (const sender of senders) sender.catch(() => stop.abort());
    const failures = (await Promise.allSettled(senders)).flatMap((end) =>
      end.status === 'rejected' ? [end.reason] : [],
    );
    await pending.return(undefined);
    const failure = failures.find((reason) => !(reason instanceof InterruptedError)) ?? failures[0];
    if (failure !== undefined) throw failure;
  }

  /** Yields what has to be sent. Looks up the next batch of rows while one is being sent. */
  async *#pending(rows: AsyncGenerator<CsvRow>): AsyncGenerator<Work, undefined> {
    let next = this.#batch(rows);
    try {
      for (;;) {
        const batch = await next;
        if (batch === undefined) return;
        next = this.#batch(rows);
        next.catch(() => undefined);
        yield* batch;
      }
    } finally {
      await rows.return(undefined);
    }
  }

  async #batch(rows: AsyncGenerator<CsvRow>): Promise<Work[] | undefined> {
    const batch = new Map<string, PendingTicket>();
    for (let read = 0; read < knownTicketsLimit; read += 1) {
      const next = await rows.next();
      if (next.done || next.value.row > this.#parts.limit) {
        if (read === 0) return undefined;
        break;
      }
      const pending = this.#map(next.value);
      if (pending !== undefined) batch.set(String(pending.ticket.externalTicketId), pending);
    }
    const known = await findKnownTickets(this.#parts.client, [...batch.keys()]);
    const isNew = (externalId: string) => !known.has(externalId);
    const tickets = [...batch].flatMap(([externalId, pending]) => (isNew(externalId) ? [pending] : []));
    const answers = [...batch].flatMap(([externalId, pending]) => {
      const knownId = known.get(externalId);
      if (knownId === undefined) return [];
      // An earlier run may have ended before it stored the answer. The server does not store it twice.
      if (pending.answer !== undefined) return [{ known: { ...pending, answer: pending.answer, knownId } }];
      this.#parts.count.alreadyThere += 1;
      this.#advance(pending.row);
      return [];
    });
    return [...toRequests(tickets), ...answers];
  }

  #map(row: CsvRow): PendingTicket | undefined {
    const { ticket, answer, tagNames, problems } = mapRow(this.#parts.mapping, row.cells);
    const reasons = row.problem === undefined ? problems : [row.problem];
    if (reasons.length > 0) {
      this.#reject(row, reasons);
      return undefined;
    }
    ticket.externalTicketId = `${this.#parts.fileId}-${row.row}`;
    return { row, ticket, answer, tagNames };
  }

  /** Creates tickets with their answers. Nothing is sent to the customers. */
  async #sendTickets(tickets: readonly PendingTicket[]): Promise<void> {
    const elements = (await Promise.all(tickets.map((pending) => this.#element(pending)))).flat();
    for (let left = elements; left.length > 0; ) {
      const body = JSON.stringify({ mode: 'each', tickets: left.map((element) => element.body) });
      const request = { method: 'POST', path: this.#path, body, wantsBody: true };
      const response = await this.#parts.client.send(request);
      if (response.status < 300) {
        this.#failuresInARow = 0;
        this.#settle(left, objectsIn(parseJson(response.text), 'results'));
        return;
      }
      this.#countFailures(response.status, left.length);
      // A ticket that breaks the contract refuses the whole request.
      left = this.#rejectNamed(left, response);
    }
  }

  /** Makes the element of a ticket; none if one of its tags is refused. */
  async #element(pending: PendingTicket): Promise<Element[]> {
    const { ticket, answer, tagNames, row } = pending;
    try {
      const ids = await Promise.all(tagNames.map((name) => this.#parts.tags.toId(name)));
      const tags = ids.length > 0 ? { tags: [...new Set(ids)] } : {};
      const messages = answer === undefined ? {} : { messages: [toMessage(ticket, answer)] };
      return [{ pending, body: { ...ticket, ...tags, ...messages } }];
    } catch (error) {
      if (!(error instanceof RejectedError)) throw error;
      this.#reject(row, error.reasons);
      return [];
    }
  }

  /** Counts the tickets of a request by the results that the response has for them. */
  #settle(elements: readonly Element[], results: readonly JsonObject[]): void {
    if (results.length !== elements.length)
      throw new UsageError('The response of POST /ticket/bulk has other tickets.');
    for (const [nth, { pending }] of elements.entries()) {
      const { success, id, error } = results[nth] ?? {};
      if (success === true) {
        this.#parts.count.created += 1;
        if (pending.answer !== undefined) this.#parts.count.answers += 1;
        this.#advance(pending.row);
        continue;
      }
      const reasons = describeError(error).map((reason) => withinElement(reason, nth));
      this.#reject(pending.row, typeof id === 'number' ? withoutAnswer(id, reasons) : reasons);
    }
  }

  /** Rejects the tickets that an error names, or all of them if it names none. Returns the others. */
  #rejectNamed(elements: readonly Element[], response: ApiResponse): Element[] {
    const reasons = listReasons(response);
    const named = Map.groupBy(reasons, (reason) => Number(/^#\/tickets\/(\d+)/.exec(reason)?.[1] ?? Number.NaN));
    const isNamed = (nth: number) => named.has(nth);
    const none = !elements.some((_, nth) => isNamed(nth));
    for (const [nth, { pending }] of elements.entries()) {
      if (none) this.#reject(pending.row, reasons);
      else if (isNamed(nth)) {
        this.#reject(
          pending.row,
          (named.get(nth) ?? []).map((reason) => withinElement(reason, nth)),
        );
      }
    }
    return none ? [] : elements.filter((_, nth) => !isNamed(nth));
  }

  /** Stores the answer of a ticket that is there as a message that was sent elsewhere. */
  async #sendAnswer({ row, ticket, answer, knownId }: KnownTicket): Promise<void> {
    const path = `/ticket/${knownId}/conversation/store`;
    const body = JSON.stringify(toMessage(ticket, answer));
    const response = await this.#parts.client.send({ method: 'POST', path, body, wantsBody: false });
    this.#countFailures(response.status, 1);
    if (response.status >= 300) {
      this.#reject(row, withoutAnswer(knownId, listReasons(response)));
      return;
    }
    this.#parts.count.alreadyThere += 1;
    this.#parts.count.answers += 1;
    this.#advance(row);
  }

  #advance(row: CsvRow): void {
    this.#parts.count.doneFraction = Math.max(this.#parts.count.doneFraction, this.#parts.doneFractionAt(row));
  }

  #countFailures(status: number, tickets: number): void {
    this.#failuresInARow = status >= 500 ? this.#failuresInARow + tickets : 0;
    if (this.#failuresInARow < maxFailuresInARow) return;
    throw new UsageError(
      `The server failed on ${this.#failuresInARow} tickets in a row, last with ${status}; see its log.`,
    );
  }

  #reject(row: CsvRow, reasons: readonly string[]): void {
    this.#parts.rejects.add(row, reasons);
    this.#parts.count.rejected += 1;
    this.#advance(row);
  }
}

/** The requests for new tickets, in their order. */
function toRequests(tickets: readonly PendingTicket[]): Work[] {
  const requests: { tickets: PendingTicket[] }[] = [];
  let bytes = 0;
  for (const pending of tickets) {
    const size = Buffer.byteLength(JSON.stringify(pending.ticket)) + Buffer.byteLength(pending.answer ?? '');
    const last = requests.at(-1);
    if (last && last.tickets.length < ticketsPerRequest && bytes + size <= bytesPerRequest) {
      last.tickets.push(pending);
      bytes += size;
    } else {
      requests.push({ tickets: [pending] });
      bytes = size;
    }
  }
  return requests;
}

/** The answer of a row as a message that was sent elsewhere. */
function toMessage({ createdAt, externalTicketId, from }: PendingTicket['ticket'], message: string): object {
  return {
    direction: 'out',
    content: { message, type: 'text' },
    ...(from === undefined ? {} : { to: [from] }),
    ...(createdAt === undefined ? {} : { createdAt }),
    externalConversationId: `${externalTicketId}-answer`,
  };
}

/** A reason with a pointer into the element of a request, instead of into the request. */
const withinElement = (reason: string, nth: number) => reason.replace(`#/tickets/${nth}`, '#');

const withoutAnswer = (id: number, reasons: readonly string[]) =>
  reasons.map((reason) => `ticket ${id} is there without its answer: ${reason}`);
