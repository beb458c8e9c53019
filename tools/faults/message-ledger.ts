/** How far something that was sent got. Unknown: no response arrived, or one that does not say. */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

/** The ways in which a message gets into a ticket. `opening` is the body of a new ticket. */
export type MessageKind = 'opening' | 'reply' | 'note' | 'draft' | 'stored' | 'mail';

/** A message that was sent to the system. A marker in its text names it wherever it is seen. */
export interface SentMessage {
  marker: string;
  kind: MessageKind;
  outcome: Outcome;
  /** Its ticket; undefined as long as only the system knows it. */
  ticketId: number | undefined;
  /** Its id, if a response showed it. */
  conversationId: number | undefined;
  /** How many files it has; undefined if a change of them was not acknowledged. */
  files: number | undefined;
  /** The publishing and the deletion of it, if they were sent. */
  publishing?: Outcome;
  deletion?: Outcome;
}

/** Records which messages the load has sent, and what became of them. */
export class MessageLedger {
  readonly messages = new Map<string, SentMessage>();

  add(message: SentMessage): SentMessage {
    this.messages.set(message.marker, message);
    return message;
  }

  /** How many messages, changes and deletions of messages were acknowledged. */
  get acknowledged(): number {
    const done = [...this.messages.values()].flatMap(({ outcome, publishing, deletion }) => [
      outcome,
      publishing,
      deletion,
    ]);
    return done.filter((outcome) => outcome === 'acknowledged').length;
  }
}

const markerPattern = /\bfaults-m\d+-\d+\b/;

/** The marker of a message, which nothing else contains. */
export function toMarker(writer: number, count: number): string {
  return `faults-m${writer}-${count}`;
}

/** The marker in a text. */
export function findMarker(text: string): string | undefined {
  return markerPattern.exec(text)?.[0];
}
