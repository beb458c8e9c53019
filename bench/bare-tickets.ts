import type { mongo } from 'mongoose';

/** The fields of a ticket's document that the bare routes name. */
export interface BareTicket {
  _id: number;
  version: number;
  priority: number;
  status: string;
  createdAt: Date;
  modifiedAt: Date;
  queueGroup: number;
  queueKeys: { sla: string };
}

/** The collection that the bare routes work on. */
export type BareTickets = mongo.Collection<BareTicket>;

/** Leaves out the fields that are not in the full form of a ticket. */
export const fullProjection = { words: 0, outbox: 0, worklog: 0, bodyHtml: 0, bodyRules: 0 } as const;

/** Leaves out the fields that are not in the compact form of a ticket. */
export const compactProjection = {
  ...fullProjection,
  body: 0,
  bodyPlain: 0,
  bodyClean: 0,
  workitem: 0,
  rawData: 0,
} as const;

/** The path of a ticket's key in the queue. */
export const queueKey = 'queueKeys.sla';

/** The group of the queue that holds open tickets without spam. */
export const openGroup = 0;
