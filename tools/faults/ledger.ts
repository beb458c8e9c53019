import { MessageLedger } from './message-ledger.ts';

/** The subject of an event: a ticket or a tag. */
export type Subject = `ticket ${number}` | `tag ${number}`;

/** The state of a ticket in a version, as a response showed it. */
export interface TicketState {
  version: number;
  status: string;
  priority: string;
  /** The ids of its tags, in their order. */
  tagIds: string;
}

/**
 * A bulk that was sent. It assigns its tickets to an agent whom no other bulk assigns, so that events show what it has
 * changed.
 */
export interface SentBulk {
  agentId: number;
  ticketIds: readonly number[];
  /** Refused: nothing may be changed, as the response said, or because of a refresh flag. Unknown: no response arrived, or one that does not say. */
  outcome: 'acknowledged' | 'refused' | 'unknown';
}

/** The names of a tag: the last one that was acknowledged, and those that were sent later. */
export interface SentNames {
  acknowledged: string;
  sentLater: string[];
}

/** An execution that a response has shown. */
export interface ShownExecution {
  ticketId: number;
  /** Undefined if the response was about a new intent, whose id it does not show. */
  intentId: number | undefined;
  txId: string;
  success: boolean;
  responseCode: string;
}

/** Records what the load has sent to the system, and what the system has acknowledged. */
export class Ledger {
  /** The versions that were acknowledged. */
  readonly versions = new Map<Subject, Set<number>>();
  /** The newest state of each ticket that a response showed. */
  readonly newest = new Map<number, TicketState>();
  readonly deletions = new Map<number, 'sent' | 'acknowledged'>();
  readonly bulks: SentBulk[] = [];
  readonly tagNames = new Map<number, SentNames>();
  readonly messages = new MessageLedger();
  /** The executions of intents that were acknowledged. */
  readonly executions: ShownExecution[] = [];
  /** Versions that were acknowledged for two different changes. */
  readonly acknowledgedTwice: string[] = [];
  /** How many requests with a refresh flag were acknowledged. */
  refreshes = 0;
  /** How many changes were acknowledged. */
  acknowledged = 0;

  /** Records the response to the creation of a ticket, or to a change that always makes a new version. */
  ticketChangeAcknowledged(id: number, state: TicketState): void {
    const subject = `ticket ${id}` as const;
    if (this.versions.get(subject)?.has(state.version))
      this.acknowledgedTwice.push(`${subject} version ${state.version}`);
    this.#acknowledge(subject, state.version);
    if (state.version > (this.newest.get(id)?.version ?? 0)) this.newest.set(id, state);
  }

  tagCreationAcknowledged(id: number, name: string): void {
    this.tagNames.set(id, { acknowledged: name, sentLater: [] });
    this.#acknowledge(`tag ${id}`, 1);
  }

  tagRenameSent(id: number, name: string): void {
    this.tagNames.get(id)?.sentLater.push(name);
  }

  /** A tag is renamed by one writer, one request after the other, so each rename makes at least the next version. */
  tagRenameAcknowledged(id: number, name: string): void {
    this.tagNames.set(id, { acknowledged: name, sentLater: [] });
    this.#acknowledge(`tag ${id}`, (this.versions.get(`tag ${id}`)?.size ?? 0) + 1);
  }

  deletionSent(id: number): void {
    if (!this.deletions.has(id)) this.deletions.set(id, 'sent');
  }

  deletionAcknowledged(id: number): void {
    this.deletions.set(id, 'acknowledged');
    this.acknowledged += 1;
  }

  bulkSent(bulk: SentBulk): void {
    this.bulks.push(bulk);
    if (bulk.outcome === 'acknowledged') this.acknowledged += bulk.ticketIds.length;
  }

  #acknowledge(subject: Subject, version: number): void {
    const versions = this.versions.get(subject) ?? new Set();
    this.versions.set(subject, versions.add(version));
    this.acknowledged += 1;
  }
}
