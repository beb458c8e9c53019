import { objectsIn } from '../import/json.ts';
import type { Ledger } from './ledger.ts';
import { isSuccess, type LoadSender } from './load-sender.ts';
import type { Random } from './random.ts';

interface ExecutionWriterOptions {
  sender: LoadSender;
  ledger: Ledger;
  /** The code of the intents. */
  code: string;
  /** The tickets that are not deleted, the newest last. */
  tickets: readonly number[];
}

/** How many of the newest tickets have intents executed. */
const recentTickets = 40;
/** How many calls may execute the same intent at once. */
const maxCalls = 3;

/** A writer that executes intents: those that were proposed, or new ones. */
export class ExecutionWriter {
  readonly #options: ExecutionWriterOptions;
  readonly #random: Random;

  constructor(options: ExecutionWriterOptions, random: Random) {
    this.#options = options;
    this.#random = random;
  }

  /** Executes an intent of some ticket. */
  async sendAny(): Promise<void> {
    const ticketId = this.#random.pick(this.#options.tickets.slice(-recentTickets));
    if (ticketId === undefined) return;
    const proposed = await this.#readyIntent(ticketId);
    if (proposed === undefined) return this.#execute(ticketId, 0);
    const calls = 1 + this.#random.below(maxCalls);
    await Promise.all(Array.from({ length: calls }, () => this.#execute(ticketId, proposed)));
  }

  async #readyIntent(ticketId: number): Promise<number | undefined> {
    const path = `/ticket/${ticketId}?includeSessions=false`;
    const response = await this.#options.sender.send(this.#random, 'GET', path);
    const ready = objectsIn(response?.body, 'intents').find(({ status }) => status === 'ready');
    return ready && Number(ready.id);
  }

  /** Executes an intent once; the id 0 stands for a new one. */
  async #execute(ticketId: number, id: number): Promise<void> {
    const { sender, ledger, code } = this.#options;
    const body = id === 0 ? { code, ticketId } : {};
    const response = await sender.send(this.#random, 'POST', `/intent/${id}/execute`, body);
    const { txId, success, responseCode } = response?.body ?? {};
    if (!isSuccess(response) || typeof txId !== 'string') return;
    const intentId = id === 0 ? undefined : id;
    ledger.executions.push({ ticketId, intentId, txId, success: success === true, responseCode: String(responseCode) });
  }
}
