/** The actor that caused an event. */
export interface EventActor {
  profileId: number | null;
  kind: string;
  /** The name of a service that acts on its own behalf. Events do not contain it. */
  service?: string | null;
}

/** The parts of an event besides the change: its id, its actor and its trace. */
export interface EventHeader {
  eventId: string;
  actor: EventActor;
  traceparent?: string | undefined;
}
