/** What the bus tells changes of: a ticket or a tag. */
export type Subject = `ticket ${number}` | `tag ${number}`;

/** What an answer said of a ticket in a version. */
export interface TicketState {
  version: number;
  status: string;
  priority: string;
  /** The ids of its tags, in their order. */
  tagIds: string;
}

/** A bulk that was sent. What it has changed is seen by the agent that it gives its tickets, which no other gives. */
export interface SentBulk {
  agentId: number;
  ticketIds: readonly number[];
  /** Refused: the system has said that it changed nothing. Unknown: no answer came, or one that leaves it open. */
  outcome: 'acknowledged' | 'refused' | 'unknown';
}

/** The names that a tag was given: the last that was acknowledged, and those that were sent since. */
export interface SentNames {
  acknowledged: string;
  since: string[];
}

/** Keeps what was sent to the system, and what of it was acknowledged. */
export class Ledger {
  /** The versions that were acknowledged. */
  readonly versions = new Map<Subject, Set<number>>();
  /** The newest state of each ticket that an answer has told. */
  readonly newest = new Map<number, TicketState>();
  readonly deletions = new Map<number, 'sent' | 'acknowledged'>();
  readonly bulks: SentBulk[] = [];
  readonly tagNames = new Map<number, SentNames>();
  /** Versions that two changes were told to have made. */
  readonly madeTwice: string[] = [];
  /** How many changes were acknowledged. */
  acknowledged = 0;

  /** A ticket was created, or changed by a request that makes a version in any case. */
  ticketChanged(id: number, state: TicketState): void {
    const subject = `ticket ${id}` as const;
    if (this.versions.get(subject)?.has(state.version)) this.madeTwice.push(`${subject} version ${state.version}`);
    this.#acknowledge(subject, state.version);
    if (state.version > (this.newest.get(id)?.version ?? 0)) this.newest.set(id, state);
  }

  tagCreated(id: number, name: string): void {
    this.tagNames.set(id, { acknowledged: name, since: [] });
    this.#acknowledge(`tag ${id}`, 1);
  }

  tagRenaming(id: number, name: string): void {
    this.tagNames.get(id)?.since.push(name);
  }

  /** One tag is renamed by one writer, one name after the other: each makes at least the next version. */
  tagRenamed(id: number, name: string): void {
    this.tagNames.set(id, { acknowledged: name, since: [] });
    this.#acknowledge(`tag ${id}`, (this.versions.get(`tag ${id}`)?.size ?? 0) + 1);
  }

  deleting(id: number): void {
    if (!this.deletions.has(id)) this.deletions.set(id, 'sent');
  }

  deleted(id: number): void {
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
