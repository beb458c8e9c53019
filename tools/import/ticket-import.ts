import type { ApiClient } from './api-client.ts';
import type { CsvRow } from './csv-rows.ts';
import type { ImportCount } from './import-count.ts';
import { findKnownTickets, knownTicketsLimit } from './known-tickets.ts';
import { type Mapping, mapRow } from './map-row.ts';
import { reasonsOf } from './problem.ts';
import type { RejectFile } from './rejects.ts';
import { InterruptedError, RejectedError, StopError } from './stop-error.ts';
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
  tagNames: string[];
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
   * Sends the tickets that the system does not have yet, `concurrency` at a time.
   *
   * Errors: the first StopError of a sender, else an InterruptedError.
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

  /** Yields the tickets that the system does not have yet. Looks up the next batch while one is being sent. */
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
    this.#parts.count.alreadyThere += known.size;
    return [...batch].flatMap(([id, pending]) => {
      if (!known.has(id)) return [pending];
      this.#advance(pending.row);
      return [];
    });
  }

  #map(row: CsvRow): PendingTicket | undefined {
    const { ticket, tagNames, problems } = mapRow(this.#parts.mapping, row.cells);
    const reasons = row.problem === undefined ? problems : [row.problem];
    if (reasons.length > 0) {
      this.#reject(row, reasons);
      return undefined;
    }
    ticket.externalTicketId = `${this.#parts.fileId}-${row.row}`;
    return { row, ticket, tagNames };
  }

  async #send({ row, ticket, tagNames }: PendingTicket): Promise<void> {
    const { client, tags, count } = this.#parts;
    try {
      const ids = await Promise.all(tagNames.map((name) => tags.idOf(name)));
      const body = JSON.stringify(ids.length > 0 ? { ...ticket, tags: [...new Set(ids)] } : ticket);
      const response = await client.send({ method: 'POST', path: this.#path, body, wantsBody: false });
      this.#countFailure(response.status);
      if (response.status >= 300) throw new RejectedError(reasonsOf(response));
      count.created += 1;
    } catch (error) {
      if (!(error instanceof RejectedError)) throw error;
      this.#reject(row, error.reasons);
    }
    this.#advance(row);
  }

  #advance(row: CsvRow): void {
    this.#parts.count.doneFraction = Math.max(this.#parts.count.doneFraction, this.#parts.doneFractionAt(row));
  }

  #countFailure(status: number): void {
    this.#failuresInARow = status >= 500 ? this.#failuresInARow + 1 : 0;
    if (this.#failuresInARow < maxFailuresInARow) return;
    throw new StopError(
      `The server failed on ${maxFailuresInARow} tickets in a row, last with ${status}; see its log.`,
    );
  }

  #reject(row: CsvRow, reasons: readonly string[]): void {
    this.#parts.rejects.add(row, reasons);
    this.#parts.count.rejected += 1;
  }
}
