import { UsageError } from '../cli/command.ts';
import type { ApiClient } from './api-client.ts';
import type { CsvRow } from './csv-rows.ts';
import type { ApiResponse } from './http-transport.ts';
import type { ImportCount } from './import-count.ts';
import { isObject, parseJson } from './json.ts';
import { findKnownTickets, knownTicketsLimit } from './known-tickets.ts';
import { type Mapping, mapRow } from './map-row.ts';
import { listReasons } from './problem.ts';
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
  /** The ticket that the system already has for the row; its answer may be missing. */
  knownId?: number;
}

/** The import ends after this many responses in a row with a status of 500 or above. */
const maxFailuresInARow = 20;

/** Imports the rows of one file, each exactly once. */
export class TicketImport {
  readonly #parts: TicketImportParts;
  readonly #path: string;
  #failuresInARow = 0;

  constructor(parts: TicketImportParts) {
    this.#parts = parts;
    this.#path = `/ticket?process=${parts.process}`;
  }

  /**
   * Sends the tickets that the system does not have yet, and all answers, `concurrency` at a time.
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
        await this.#send(next.value);
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

  /** Yields the rows of which something has to be sent. Looks up the next batch while one is being sent. */
  async *#pending(rows: AsyncGenerator<CsvRow>): AsyncGenerator<PendingTicket, undefined> {
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

  async #batch(rows: AsyncGenerator<CsvRow>): Promise<PendingTicket[] | undefined> {
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
    return [...batch].flatMap(([externalId, pending]) => {
      const knownId = known.get(externalId);
      if (knownId === undefined) return [pending];
      // An earlier run may have ended before it stored the answer. The server does not store it twice.
      if (pending.answer !== undefined) return [{ ...pending, knownId }];
      this.#parts.count.alreadyThere += 1;
      this.#advance(pending.row);
      return [];
    });
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

  async #send(pending: PendingTicket): Promise<void> {
    const { count } = this.#parts;
    try {
      const id = pending.knownId ?? (await this.#create(pending));
      if (pending.answer !== undefined) await this.#storeAnswer(id, pending, pending.answer);
      if (pending.knownId === undefined) count.created += 1;
      else count.alreadyThere += 1;
    } catch (error) {
      if (!(error instanceof RejectedError)) throw error;
      this.#reject(pending.row, error.reasons);
    }
    this.#advance(pending.row);
  }

  /** Creates a ticket, of which nothing is sent. Returns its id if it has an answer, which needs it; else 0. */
  async #create({ ticket, answer, tagNames }: PendingTicket): Promise<number> {
    const ids = await Promise.all(tagNames.map((name) => this.#parts.tags.toId(name)));
    const body = { ...ticket, send: false, ...(ids.length > 0 ? { tags: [...new Set(ids)] } : {}) };
    const response = await this.#post(this.#path, body, answer !== undefined);
    if (answer === undefined) return 0;
    const created = parseJson(response.text);
    if (isObject(created) && typeof created.id === 'number') return created.id;
    throw new UsageError('The response of POST /ticket has no id.');
  }

  /** Stores an answer as a message that was sent elsewhere: nothing is sent to the customer. */
  async #storeAnswer(id: number, { ticket }: PendingTicket, message: string): Promise<void> {
    const { createdAt, externalTicketId, from } = ticket;
    const body = {
      direction: 'out',
      content: { message, type: 'text' },
      ...(from === undefined ? {} : { to: [from] }),
      ...(createdAt === undefined ? {} : { createdAt }),
      externalConversationId: `${externalTicketId}-answer`,
    };
    try {
      await this.#post(`/ticket/${id}/conversation/store`, body, false);
    } catch (error) {
      if (!(error instanceof RejectedError)) throw error;
      throw new RejectedError(error.reasons.map((reason) => `ticket ${id} is there without its answer: ${reason}`));
    }
    this.#parts.count.answers += 1;
  }

  /** Sends a request. Errors: RejectedError if the server refuses it. */
  async #post(path: string, body: object, wantsBody: boolean): Promise<ApiResponse> {
    const response = await this.#parts.client.send({ method: 'POST', path, body: JSON.stringify(body), wantsBody });
    this.#countFailure(response.status);
    if (response.status >= 300) throw new RejectedError(listReasons(response));
    return response;
  }

  #advance(row: CsvRow): void {
    this.#parts.count.doneFraction = Math.max(this.#parts.count.doneFraction, this.#parts.doneFractionAt(row));
  }

  #countFailure(status: number): void {
    this.#failuresInARow = status >= 500 ? this.#failuresInARow + 1 : 0;
    if (this.#failuresInARow < maxFailuresInARow) return;
    throw new UsageError(
      `The server failed on ${maxFailuresInARow} tickets in a row, last with ${status}; see its log.`,
    );
  }

  #reject(row: CsvRow, reasons: readonly string[]): void {
    this.#parts.rejects.add(row, reasons);
    this.#parts.count.rejected += 1;
  }
}
