import { serverTime } from '@ticketing/store/connection/server-time.ts';
import type { Query } from '@ticketing/store/document/field-query.ts';
import { storeCall } from '@ticketing/store/document/store-error.ts';
import type { Connection } from 'mongoose';
import type { MessageReference } from '../message/external-id-store.ts';
import {
  type DeliveryFailure,
  type DeliveryReport,
  type FailureReason,
  reportedRecipients,
  toError,
} from '../message/rules/delivery-report.ts';
import { recipientsLeft } from '../message/rules/outgoing-mail.ts';
import { type ConversationDocument, conversationCollection } from '../message/schema.ts';
import { fromDocument } from '../message/store.ts';

/** The effect of a report on a message. */
export type ReportOutcome =
  /** A recipient has failed for good. */
  | 'failed'
  /** A server tries again. */
  | 'delayed'
  /** The message has it already. */
  | 'known'
  /** It names no recipient of the message, or the message was not sent as a mail. */
  | 'foreign';

/** Records the reports of mail servers in messages. Errors: store_unavailable. */
export interface FailureStore {
  record(message: MessageReference, report: DeliveryReport): Promise<ReportOutcome>;
}

const projection = {
  ...{ deliveryStatus: 1, deliveryRevision: 1, bounced: 1, mail: 1, lease: 1, to: 1, cc: 1, bcc: 1 },
} as const;

export function failureStore(connection: Connection): FailureStore {
  const conversations = conversationCollection(connection);
  return {
    async record({ ticketId, conversationId }, report) {
      for (;;) {
        const isMessage = { _id: conversationId, ticketId };
        const message = await storeCall(() => conversations.findOne(isMessage, { projection }));
        if (!message) return 'foreign';
        const { outcome, change } = decide(message, report, serverTime(connection));
        if (!change) return outcome;
        const { deliveryStatus, deliveryRevision = null } = message;
        const isSame = { ...isMessage, deliveryStatus, deliveryRevision } as Query;
        const { matchedCount } = await storeCall(() => conversations.updateOne(isSame, change));
        if (matchedCount === 1) return outcome;
      }
    },
  };
}

/** Decides what a report changes in a message. Units: `nowMs` in Unix ms. */
function decide(
  message: ConversationDocument,
  report: DeliveryReport,
  nowMs: number,
): { outcome: ReportOutcome; change?: Query } {
  const { deliveryStatus, bounced = [], deliveryRevision = 0 } = message;
  const reported = [...reportedRecipients(report, addressesSentTo(message))];
  const toReason = ([recipient, { code, text }]: (typeof reported)[number]): FailureReason => ({
    code,
    text,
    recipient,
  });
  const at = Math.floor(nowMs / 1000);
  const failed = reported.filter(([address, { isFinal }]) => isFinal && !bounced.includes(address));
  if (failed.length > 0) {
    const id = `report ${message._id} ${deliveryRevision}`;
    const failure: DeliveryFailure = { id, at, reasons: failed.map(toReason) };
    const change: Query = {
      $set: {
        deliveryError: toError(failure),
        bounced: [...bounced, ...failed.map(([address]) => address)],
        hasFailures: true,
        isReported: false,
        ...(deliveryStatus === 'sent' && { deliveryStatus: 'failed' }),
      },
      $push: { failures: failure },
      // A resending compares the other number: it does not overwrite what it has not read.
      $inc: { deliveryRevision: 1, revision: 1 },
    };
    return { outcome: 'failed', change };
  }
  if (reported.length === 0) return { outcome: 'foreign' };
  const delayed = reported.find(([, { isFinal }]) => !isFinal);
  if (!delayed || deliveryStatus === 'failed' || bounced.length > 0) return { outcome: 'known' };
  return { outcome: 'delayed', change: { $set: { deliveryError: { ...toReason(delayed), at } } } };
}

/** The addresses to which a message was sent, or may have been by an attempt that has not ended. */
function addressesSentTo(message: ConversationDocument): readonly string[] {
  const { mail, lease, deliveryStatus } = message;
  if (!mail) return [];
  const { to, cc, bcc } = fromDocument(message);
  const isBeingSent = deliveryStatus === 'queued' && Boolean(lease);
  return [...mail.reached, ...(isBeingSent ? recipientsLeft({ to, cc, bcc, reached: mail.reached }).addresses : [])];
}
