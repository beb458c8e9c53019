import type { OutgoingMail } from '../message/rules/outgoing-mail.ts';

/** The messages that have to be sent as mails. Errors of every operation: store_unavailable. */
export interface MailQueue {
  /** Claims the mail that has been due for the longest time; undefined if none is due. */
  claim(): Promise<ClaimedMail | undefined>;
  /** Keeps a claim. */
  renew(claimed: ClaimedMail): Promise<void>;
  /** Ends a claim with the state of the mail. */
  settle(claimed: ClaimedMail, state: MailState): Promise<void>;
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
