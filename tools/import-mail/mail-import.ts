import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  ReceivedMailOutcome,
  ReceiveMailRequestSchema,
  ReceiveMailResponseSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/mail_service_pb.ts';
import { UsageError } from '../cli/command.ts';
import type { ApiClient } from '../import/api-client.ts';
import { listReasons } from '../import/problem.ts';
import type { RejectFile } from '../import/rejects.ts';
import { InterruptedError } from '../import/row-errors.ts';
import type { MailCount } from './mail-count.ts';
import { readMail } from './mail-file.ts';
import type { OrderedMail } from './mail-order.ts';

interface MailImportParts {
  client: Pick<ApiClient, 'send'>;
  rejects: Pick<RejectFile, 'add'>;
  count: MailCount;
  subchannelId: number | undefined;
  keepsDate: boolean;
}

/** The most bytes of a request. */
const maxBytes = 40 * 1024 * 1024;
const path = '/ticketing.tickets.v1.MailService/ReceiveMail';
/** The import ends after this many responses in a row with a status of 500 or above. */
const maxFailuresInARow = 20;

/** Sends mails, each after those that it answers. */
export class MailImport {
  readonly #parts: MailImportParts;
  #failuresInARow = 0;

  constructor(parts: MailImportParts) {
    this.#parts = parts;
  }

  /**
   * Sends mails, `concurrency` at a time.
   *
   * Errors: the first UsageError of a sender, else an InterruptedError.
   */
  async run(mails: readonly OrderedMail[], concurrency: number, stop: AbortController): Promise<void> {
    const sent: Promise<void>[] = [];
    const next = mails.entries();
    const sendAll = async (): Promise<void> => {
      for (const [index, mail] of next) {
        if (stop.signal.aborted) throw new InterruptedError('interrupted');
        // Every mail that this one waits for is earlier in the order, so that it was begun before.
        const sending = Promise.all(mail.after.map((earlier) => sent[earlier])).then(() => this.#send(mail, index));
        sent[index] = sending;
        await sending;
      }
    };
    const senders = Array.from({ length: concurrency }, () => sendAll());
    for (const sender of senders) sender.catch(() => stop.abort());
    const failures = (await Promise.allSettled(senders)).flatMap((end) =>
      end.status === 'rejected' ? [end.reason] : [],
    );
    const failure = failures.find((reason) => !(reason instanceof InterruptedError)) ?? failures[0];
    if (failure !== undefined) throw failure;
  }

  async #send({ file }: OrderedMail, index: number): Promise<void> {
    const { client, count, subchannelId, keepsDate } = this.#parts;
    const mail = await readMail(file.path);
    const fields = { mail, keepDate: keepsDate, ...(subchannelId === undefined ? {} : { subchannelId }) };
    const body = toBinary(ReceiveMailRequestSchema, create(ReceiveMailRequestSchema, fields));
    if (body.length > maxBytes) return this.#refuse(file.path, index, ['The mail has more than 40 MiB.']);
    const request = { method: 'POST', path, body, contentType: 'application/proto', wantsBody: true };
    const response = await client.send(request);
    this.#countFailure(response.status);
    if (response.status >= 300) return this.#refuse(file.path, index, listReasons(response));
    const { outcome } = fromBinary(ReceiveMailResponseSchema, Buffer.from(response.text, 'latin1'));
    if (outcome === ReceivedMailOutcome.TICKET_CREATED) count.tickets += 1;
    else if (outcome === ReceivedMailOutcome.MESSAGE_ADDED) count.messages += 1;
    else if (outcome === ReceivedMailOutcome.ALREADY_KNOWN) count.alreadyKnown += 1;
    else throw new UsageError('The server responds with an outcome that this command does not know.');
  }

  #countFailure(status: number): void {
    this.#failuresInARow = status >= 500 ? this.#failuresInARow + 1 : 0;
    if (this.#failuresInARow < maxFailuresInARow) return;
    throw new UsageError(`The server failed on ${maxFailuresInARow} mails in a row, last with ${status}; see its log.`);
  }

  #refuse(path: string, index: number, reasons: readonly string[]): void {
    this.#parts.rejects.add({ row: index + 1, line: index + 1, cells: [path], endByte: 0 }, reasons);
    this.#parts.count.rejected += 1;
  }
}
