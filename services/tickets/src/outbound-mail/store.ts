import { ContentType } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { serverTime } from '@ticketing/store/connection/server-time.ts';
import type { Query } from '@ticketing/store/document/field-query.ts';
import { storeCall } from '@ticketing/store/document/store-error.ts';
import { openLeases } from '@ticketing/store/leases/lease.ts';
import type { Connection } from 'mongoose';
import { type DeliveryFailure, findCode, toError } from '../message/rules/delivery-report.ts';
import { type OutgoingMail, recipientsLeft } from '../message/rules/outgoing-mail.ts';
import { type ConversationDocument, conversationCollection } from '../message/schema.ts';
import { fromDocument } from '../message/store.ts';
import { oneLine } from '../rules/mail-headers.ts';

/** The messages that have to be sent as mails. Errors of every operation: store_unavailable. */
export interface MailQueue {
  /** Claims the mail that has been due for the longest time; undefined if none is due. */
  claim(): Promise<ClaimedMail | undefined>;
  /** Keeps a claim. */
  renew(claimed: ClaimedMail): Promise<void>;
  /** Ends a claim with the state of the mail. Returns whether its ticket is to show that, or a failure. */
  settle(claimed: ClaimedMail, state: MailState): Promise<boolean>;
  /** Ends a claim without an attempt. */
  postpone(claimed: ClaimedMail, delayMs: number): Promise<void>;
  /** Whether the message is still the one that was claimed, and not a draft that was published again since. */
  isCurrent(claimed: ClaimedMail): Promise<boolean>;
  /** Takes a draft that was not published out of the queue. Returns false if it was changed since it was claimed. */
  withdraw(claimed: ClaimedMail): Promise<boolean>;
  size(): Promise<QueueSize>;
}

/** How many mails are queued, and since when the oldest. */
export interface QueueSize {
  count: number;
  oldestAt: Date | undefined;
}

/** A mail that only one process sends until its lease expires. */
export interface ClaimedMail {
  mail: OutgoingMail;
  owner: string;
  /** The number of changes of its message. */
  revision: number;
  /** Whether no process publishes the draft any more: if it is not part of its ticket, its publishing was interrupted. */
  isPublishingOver: boolean;
}

/** The state of a mail after an attempt. */
export type MailState = {
  attempts: number;
  reached: readonly string[];
  error: string | null;
} & ({ status: 'sent' | 'failed' } | { status: 'queued'; pauseMs: number });

const oneChange: Query = { $inc: { deliveryRevision: 1 } };
const durationMs = 20_000;
const isQueued: Query = { deliveryStatus: 'queued' };

/**
 * Opens the queue of outgoing mails, which are messages. A process that has lost its lease stores only a success; the
 * process that has claimed the mail after it then stores nothing.
 */
export function outgoingMailStore(connection: Connection): MailQueue {
  const conversations = conversationCollection(connection);
  const leases = openLeases(conversations, { connection, durationMs });
  const dueIn = (ms: number) => new Date(serverTime(connection) + ms);
  const end = (filter: Query, set: Query) =>
    storeCall(async () => {
      const change = { $set: { ...set, lease: null } };
      return (await conversations.updateOne({ ...filter, ...isQueued }, change)).matchedCount === 1;
    });
  // A draft has another Message-ID when it is published again.
  const isSame = ({ mail }: ClaimedMail): Query => ({ _id: mail.id, externalConversationId: mail.messageId });
  const isHeld = ({ mail, owner }: ClaimedMail) => leases.isHeld({ id: mail.id, owner });
  return {
    claim: () =>
      storeCall(async () => {
        const isDue = { ...isQueued, 'mail.nextAttemptAt': { $lte: dueIn(0) } };
        const claimed = await leases.claim(isDue, { sort: { 'mail.nextAttemptAt': 1 } });
        if (!claimed) return undefined;
        const { lease, revision, publishingUntil } = claimed;
        const isPublishingOver = publishingUntil !== null && publishingUntil.getTime() < serverTime(connection);
        return { mail: toOutgoingMail(claimed), owner: lease.owner, revision, isPublishingOver };
      }),
    async renew({ mail, owner }) {
      await storeCall(() => leases.renew({ id: mail.id, owner }));
    },
    async settle(claimed, state) {
      const isSettled = state.status === 'sent' ? isSame(claimed) : { ...isHeld(claimed), ...isSame(claimed) };
      const failure = findFailure(claimed, state, serverTime(connection));
      const finalFailure = state.status === 'failed' ? failure : undefined;
      const set = {
        'mail.attempts': state.attempts,
        'mail.reached': [...state.reached],
        'mail.lastError': state.error,
        'mail.nextAttemptAt': state.status === 'queued' ? dueIn(state.pauseMs) : null,
        isReported: false,
        lease: null,
        ...(finalFailure && { hasFailures: true }),
      };
      const update = (filter: Query, changed: Query) => {
        const change: Query = {
          $set: { ...set, ...changed },
          ...oneChange,
          ...(finalFailure ? { $push: { failures: finalFailure } } : {}),
        };
        const options = { projection: { reportsDelivery: 1, hasFailures: 1 }, returnDocument: 'after' } as const;
        return storeCall(() =>
          conversations.findOneAndUpdate({ ...isSettled, ...isQueued, ...filter }, change, options),
        );
      };
      const hasBounced = { 'bounced.0': { $exists: true } };
      const deliveryError = failure ? toError(failure) : null;
      // A recipient who was reported as failed stays so.
      const settled =
        (await update({ $nor: [hasBounced] }, { deliveryStatus: state.status, deliveryError })) ??
        (await update(hasBounced, {
          deliveryStatus: state.status === 'queued' ? 'queued' : 'failed',
          ...(finalFailure && { deliveryError }),
        }));
      return settled?.reportsDelivery || settled?.hasFailures || false;
    },
    async postpone(claimed, delayMs) {
      await end(isHeld(claimed), { 'mail.nextAttemptAt': dueIn(delayMs) });
    },
    isCurrent: (claimed) =>
      storeCall(async () => (await conversations.countDocuments(isSame(claimed), { limit: 1 })) === 1),
    withdraw: (claimed) =>
      end(
        { ...isHeld(claimed), revision: claimed.revision },
        {
          ...{ deliveryStatus: 'none', externalConversationId: null, mail: null, publishingUntil: null },
          revision: claimed.revision + 1,
        },
      ),
    size: () =>
      storeCall(async () => {
        const group = { _id: null, count: { $sum: 1 }, oldestAt: { $min: '$createdAt' } };
        const [found] = await conversations
          .aggregate<{ count: number; oldestAt: Date }>([{ $match: isQueued }, { $group: group }])
          .toArray();
        return found ?? { count: 0, oldestAt: undefined };
      }),
  };
}

/** Finds what an attempt did not achieve; undefined if nothing is left. Units: `nowMs` in Unix ms. */
function findFailure({ mail }: ClaimedMail, { error, reached }: MailState, nowMs: number): DeliveryFailure | undefined {
  if (error === null) return undefined;
  const { addresses, invalid } = recipientsLeft({ ...mail, reached });
  const reason = { code: findCode(error), text: shownError(error) };
  const reasons = [...addresses, ...invalid].map((recipient) => ({ ...reason, recipient }));
  return {
    id: `mail ${mail.id} ${nowMs}`,
    at: Math.floor(nowMs / 1000),
    reasons: reasons.length > 0 ? reasons : [{ ...reason, recipient: null }],
  };
}

/** An error as people may see it: the reply of the mail server, else without names of hosts and files. */
function shownError(error: string): string {
  const text = oneLine(error);
  const reply = /(?<![\d.:])[45]\d\d[ -].*/.exec(text)?.[0];
  const code = /^E[A-Z]+/.exec(text)?.[0];
  return reply ?? (code === undefined ? text : `The mail could not be handed over (${code}).`);
}

function toOutgoingMail(document: ConversationDocument): OutgoingMail {
  const { body, bodyHtml, bodyPlain, createdAt, externalConversationId, type, ...message } = fromDocument(document);
  const { attempts = 0, reached = [], references = [] } = document.mail ?? {};
  const { id, ticketId, subchannelId, from, fromName, to, cc, bcc, subject, isAutomatic } = message;
  const isText = type === ContentType.TEXT;
  return {
    ...{ id, ticketId, subchannelId, from, fromName, to, cc, bcc, isAutomatic, attempts, reached, references },
    messageId: externalConversationId ?? '',
    subject: subject ?? '',
    text: (isText ? body : bodyPlain)?.replaceAll('\0', '') ?? '',
    html: isText ? null : bodyHtml,
    attachments: message.attachments,
    queuedAt: createdAt ?? 0,
  };
}
