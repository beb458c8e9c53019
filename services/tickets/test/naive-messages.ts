/** A message as docs/reference/api.md, Conversations, describes it. Times are texts, whose order is that of the times. */
export interface NaiveMessage {
  id: number;
  direction: string;
  private: boolean;
  isDraft: boolean;
  body: string;
  from: string | null;
  to: readonly string[];
  cc: readonly string[];
  files: number;
  agentId: number | null;
  publishedBy?: number;
  deliveryStatus: string;
  notSentReason: string | null;
  createdAt: string;
  /** Whether it came as a mail. */
  isMail?: boolean;
  /** Whether a request has named its recipients. */
  isNamed?: boolean;
  /** Whether a program sent it. */
  isProgrammatic?: boolean;
  /** Whether it is the first message, or was sent or received: it cannot be changed or deleted. */
  isFinal: boolean;
}

/** The part of an event of a ticket that concerns messages. */
export interface NaiveEvent {
  type: string;
  conversationId?: number;
}

/** A ticket with its messages, written directly from docs/reference/api.md, Conversations. */
export class NaiveTicket {
  readonly channel: string;
  status: string;
  version = 1;
  lastMessageAt: string | null = null;
  lastCustomerMessageAt: string | null = null;
  lastResponseAuthor: number | null = null;
  readonly messages = new Map<number, NaiveMessage>();
  readonly events: NaiveEvent[] = [{ type: 'ticket.created' }];
  /** The messages that have an external id. */
  readonly externalIds = new Map<string, number>();
  #latest: NaiveMessage;

  constructor(channel: string, status: string, opening: NaiveMessage) {
    this.channel = channel;
    this.status = status;
    this.messages.set(opening.id, opening);
    this.lastMessageAt = opening.createdAt;
    this.lastCustomerMessageAt = opening.createdAt;
    this.#latest = opening;
  }

  /** The recipients of a reply: the sender of the latest message and those who got copies, or its recipients again. */
  get replyRecipients(): { to: readonly string[]; cc: readonly string[] } {
    const { direction, from, to, cc } = this.#latest;
    return { to: direction === 'in' ? [from].filter((one) => one !== null) : to, cc };
  }

  /** How a message to some people is sent. */
  sending(recipients: readonly string[], isNamed: boolean): Pick<NaiveMessage, 'deliveryStatus' | 'notSentReason'> {
    const isChat = this.channel === 'chat';
    const staysInChat = isChat && !isNamed && !this.#latest.isMail;
    if (!staysInChat && recipients.length > 0) return { deliveryStatus: 'queued', notSentReason: null };
    return { deliveryStatus: 'none', notSentReason: isChat ? 'channel_without_mail' : 'no_recipient' };
  }

  /** The messages in the order of their times. */
  get list(): NaiveMessage[] {
    const [opening, ...others] = [...this.messages.values()];
    const sorted = others.sort((left, right) =>
      left.createdAt === right.createdAt ? left.id - right.id : left.createdAt < right.createdAt ? -1 : 1,
    );
    return opening ? [opening, ...sorted] : [];
  }

  /** How many messages of a direction count. */
  count(direction: string): number {
    return this.list.filter((one) => !one.isDraft && !one.isProgrammatic && one.direction === direction).length;
  }

  addDraft(message: NaiveMessage): void {
    this.messages.set(message.id, message);
  }

  /** Adds a message that is no draft, or publishes a draft. */
  announce(message: NaiveMessage, type: string): void {
    this.messages.set(message.id, message);
    this.#change({ type, conversationId: message.id });
    if (message.isProgrammatic) return;
    if (message.direction === 'in') this.status = 'open';
    if (message.private) return;
    const { createdAt: at, direction } = message;
    if (direction === 'in' && at > (this.lastCustomerMessageAt ?? '')) this.lastCustomerMessageAt = at;
    if (at < (this.lastMessageAt ?? '')) return;
    this.lastMessageAt = at;
    const isToNobody = direction === 'out' && message.to.length + message.cc.length === 0;
    if (direction !== 'internal' && !isToNobody) this.#latest = message;
    if (direction === 'out') this.lastResponseAuthor = message.agentId;
  }

  remove(id: number): void {
    const message = this.messages.get(id);
    this.messages.delete(id);
    for (const [externalId, of] of this.externalIds) if (of === id) this.externalIds.delete(externalId);
    if (message && !message.isDraft) this.#change({ type: 'ticket.updated', conversationId: id });
  }

  setStatus(status: string): void {
    this.status = status;
    this.#change({ type: 'ticket.updated' });
  }

  #change(event: NaiveEvent): void {
    this.version += 1;
    this.events.push(event);
  }
}
