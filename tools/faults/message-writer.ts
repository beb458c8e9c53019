import type { JsonObject } from '../import/json.ts';
import type { Ledger } from './ledger.ts';
import { isSuccess, type LoadResponse, type LoadSender, toOutcome } from './load-sender.ts';
import type { MailSender } from './mail-sender.ts';
import { type MessageKind, type SentMessage, toMarker } from './message-ledger.ts';
import type { Random } from './random.ts';

/** A mailbox of the system. */
export interface Mailbox {
  subchannelId: number;
  address: string;
  /** A response template that shows `in.marker`, and has a file. */
  templateId: number;
}

interface Shared {
  sender: LoadSender;
  mails: MailSender;
  ledger: Ledger;
  mailbox: Mailbox;
  tickets: number[];
}

const hotTickets = 12;
/** How many messages a writer remembers, to change, delete or reply to them. */
const maxKept = 8;
/** The most attempts of a request whose repetition the system recognises. */
const maxAttempts = 200;
const customer = 'kim@example.com';

/** Sends random requests about messages of tickets, and records the responses in the ledger. */
export class MessageWriter {
  readonly #shared: Shared;
  readonly #writer: number;
  readonly #random: Random;
  /** The drafts and notes of this writer, which no other changes. */
  readonly #own: (SentMessage & { ticketId: number; conversationId: number })[] = [];
  /** The `Message-ID`s of incoming and outgoing mails, to which further mails reply. */
  readonly #messageIds: string[] = [];
  #markers = 0;

  constructor(shared: Shared, writer: number, random: Random) {
    this.#shared = shared;
    this.#writer = writer;
    this.#random = random;
  }

  /** Sends one request of a random kind. */
  async sendAny(): Promise<void> {
    const chance = this.#random.next();
    if (chance < 0.15) await this.#createTicket();
    else if (chance < 0.35) await this.#write('reply', {});
    else if (chance < 0.42) await this.#write('note', { private: true });
    else if (chance < 0.54) await this.#write('draft', { isDraft: true });
    else if (chance < 0.68) await this.#store();
    else if (chance < 0.82) await this.#receiveMail();
    else await this.#changeOwn();
  }

  /** Creates a ticket of channel email, whose first message comes from the customer, or is sent to the customer. */
  async #createTicket(): Promise<void> {
    const message = this.#newMessage('opening', undefined);
    const { subchannelId } = this.#shared.mailbox;
    const people = this.#random.next() < 0.7 ? { from: customer } : { direction: 'out', to: [customer] };
    const files = this.#files(message);
    const text = this.#byTemplate(message) ?? { body: message.marker };
    const body = { channel: 'email', subchannelId, subject: 'faults', ...text, ...people, ...files };
    const response = await this.#send('POST', '/ticket', body);
    message.outcome = toOutcome(response);
    const id = response?.body.id;
    if (!isSuccess(response) || typeof id !== 'number') return;
    message.ticketId = id;
    this.#shared.tickets.push(id);
  }

  async #write(kind: MessageKind, more: JsonObject): Promise<void> {
    const message = this.#newMessage(kind, this.#someTicket());
    const files = this.#files(message);
    const text = this.#byTemplate(message) ?? { content: toContent(message) };
    const body = { ...text, ...more, ...files };
    const response = await this.#send('POST', `/ticket/${message.ticketId}/conversation/reply`, body);
    this.#acknowledge(message, response);
    const { conversation, id } = response?.body ?? {};
    this.#keepMessageId(conversation);
    if (!isSuccess(response) || typeof id !== 'number' || kind === 'reply' || message.ticketId === undefined) return;
    this.#own.push(Object.assign(message, { conversationId: id, ticketId: message.ticketId }));
    if (this.#own.length > maxKept) this.#own.shift();
  }

  /** Stores a message. If its id is known, it may be sent again, by any number of requests. */
  async #store(): Promise<void> {
    const message = this.#newMessage('stored', this.#someTicket());
    const direction = this.#random.pick(['in', 'out', 'internal']);
    const hasId = this.#random.next() < 0.7;
    const external = hasId ? { externalConversationId: `<${message.marker}@stored.example>` } : {};
    // The next reply goes to the people of the latest message.
    const people = { from: customer, to: [customer] };
    const files = this.#files(message);
    const text = this.#byTemplate(message) ?? { content: toContent(message) };
    const body = { ...text, direction, ...people, ...external, ...files };
    const path = `/ticket/${message.ticketId}/conversation/store`;
    const response = await this.#repeat(hasId, () => this.#send('POST', path, body));
    this.#acknowledge(message, response);
    const { conversationId, ticketId } = response?.body ?? {};
    if (typeof conversationId === 'number') message.conversationId = conversationId;
    if (typeof ticketId === 'number') message.ticketId = ticketId;
  }

  /** Hands in a mail: a reply to another mail, or a new one. */
  async #receiveMail(): Promise<void> {
    const message = this.#newMessage('mail', undefined);
    const messageId = `<${message.marker}@mail.example>`;
    const answered = this.#random.next() < 0.7 ? this.#random.pick(this.#messageIds) : undefined;
    const mail = renderMail(message.marker, this.#shared.mailbox.address, messageId, answered);
    message.files = 1;
    const response = await this.#repeat(true, () => this.#shared.mails.receive(this.#random, mail));
    this.#acknowledge(message, response);
    const { ticketId, conversationId, outcome } = response?.body ?? {};
    if (!isSuccess(response) || typeof ticketId !== 'number') return;
    Object.assign(message, { ticketId, conversationId });
    if (outcome === 'RECEIVED_MAIL_OUTCOME_TICKET_CREATED') this.#shared.tickets.push(ticketId);
    this.#messageIds.push(messageId);
  }

  /** Repeats a request without a response: until there is one, or, some of the time, not at all. */
  async #repeat(mayRepeat: boolean, send: () => Promise<LoadResponse>): Promise<LoadResponse> {
    const first = await send();
    if (!mayRepeat || this.#random.next() < 0.3 || toOutcome(first) !== 'unknown') return first;
    let response = first;
    for (let attempt = 1; toOutcome(response) === 'unknown' && attempt < maxAttempts; attempt++) {
      if (response?.status === 404) return response;
      response = await send();
    }
    // An earlier attempt may still be carried out.
    return toOutcome(response) === 'refused' ? undefined : response;
  }

  async #changeOwn(): Promise<void> {
    const message = this.#random.pick(this.#own);
    if (!message) return this.#write('draft', { isDraft: true });
    const chance = this.#random.next();
    if (chance < 0.35) await this.#change(message);
    else if (chance < 0.7 && message.kind === 'draft') await this.#publish(message);
    else await this.#delete(message);
  }

  async #change(message: SentMessage): Promise<void> {
    const before = message.files;
    const files = message.kind === 'draft' ? this.#files(message) : {};
    const after = message.files;
    // Until the response arrives, the message may have the old files or the new ones.
    if ('attachments' in files) message.files = undefined;
    else message.files = before;
    const content = { message: `${message.marker}, changed`, type: 'text' };
    const response = await this.#send('PATCH', toPath(message), { content, ...files });
    if (isSuccess(response) && 'attachments' in files) message.files = after;
    if (response?.status === 404) this.#forget(message);
  }

  async #publish(message: SentMessage): Promise<void> {
    message.publishing = 'unknown';
    const response = await this.#send('PATCH', toPath(message), { to: [customer], isDraft: false });
    if (isSuccess(response)) message.publishing = 'acknowledged';
    if (toOutcome(response) !== 'unknown' || this.#random.next() < 0.3) this.#forget(message);
  }

  async #delete(message: SentMessage): Promise<void> {
    message.deletion = 'unknown';
    const response = await this.#send('DELETE', toPath(message));
    message.deletion = toOutcome(response);
    if (message.deletion !== 'unknown' || this.#random.next() < 0.5) this.#forget(message);
  }

  #forget(message: SentMessage): void {
    const index = this.#own.findIndex(({ marker }) => marker === message.marker);
    if (index >= 0) this.#own.splice(index, 1);
  }

  #newMessage(kind: MessageKind, ticketId: number | undefined): SentMessage {
    this.#markers += 1;
    const marker = toMarker(this.#writer, this.#markers);
    const unknown = { outcome: 'unknown', conversationId: undefined, files: 0 } as const;
    return this.#shared.ledger.messages.add({ marker, kind, ticketId, ...unknown });
  }

  #acknowledge(message: SentMessage, response: LoadResponse): void {
    message.outcome = toOutcome(response);
    const id = response?.body.id;
    if (typeof id === 'number') message.conversationId = id;
  }

  #keepMessageId(conversation: unknown): void {
    const { externalConversationId } = (conversation ?? {}) as JsonObject;
    if (typeof externalConversationId === 'string') this.#messageIds.push(externalConversationId);
  }

  /** Some small files, the number of which it records in the message. */
  #files(message: SentMessage): JsonObject {
    const count = this.#random.next() < 0.4 ? 1 + this.#random.below(2) : 0;
    message.files = count;
    if (count === 0) return {};
    const base64 = Buffer.alloc(1 + this.#random.below(3_000), 'file ').toString('base64');
    return { attachments: Array.from({ length: count }, (_, index) => ({ name: `${index}.txt`, base64 })) };
  }

  /** Some of the time, the template that a message is written with, whose file it records in the message. */
  #byTemplate(message: SentMessage): JsonObject | undefined {
    if (this.#random.next() >= 0.25) return undefined;
    message.files = (message.files ?? 0) + 1;
    return { templateId: this.#shared.mailbox.templateId, templateData: { marker: message.marker } };
  }

  #someTicket(): number {
    const { tickets } = this.#shared;
    const candidates = this.#random.next() < 0.5 ? tickets.slice(-hotTickets) : tickets;
    return this.#random.pick(candidates) ?? 1;
  }

  #send(method: string, path: string, content?: unknown): Promise<LoadResponse> {
    return this.#shared.sender.send(this.#random, method, path, content);
  }
}

function toContent({ marker }: SentMessage): JsonObject {
  return { message: `${marker}, first`, type: 'text' };
}

function toPath({ ticketId, conversationId }: SentMessage): string {
  return `/ticket/${ticketId}/conversation/${conversationId}`;
}

function renderMail(marker: string, to: string, messageId: string, answered: string | undefined): string {
  return [
    `From: Kim <${customer}>`,
    `To: ${to}`,
    'Subject: faults',
    `Message-ID: ${messageId}`,
    ...(answered === undefined ? [] : [`In-Reply-To: ${answered}`]),
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=part',
    '',
    '--part',
    'Content-Type: text/plain',
    '',
    marker,
    '--part',
    'Content-Type: text/plain; name=a.txt',
    'Content-Disposition: attachment; filename=a.txt',
    '',
    'a file',
    '--part--',
    '',
  ].join('\r\n');
}
