/** What happened to a tag, as the outbox keeps it until the relay sends it. Units: Unix seconds. */
export interface TagEvent {
  eventId: string;
  version: number;
  occurredAt: number;
  deleted: boolean;
  /** The trace of the request that caused it. */
  traceparent?: string;
}
