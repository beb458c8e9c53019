import type { JsonValue } from '@bufbuild/protobuf';

/** What happened to a ticket, as the outbox keeps it until the relay sends it. */
export interface TicketEvent {
  eventId: string;
  type: 'ticket.created' | 'ticket.updated' | 'ticket.deleted';
  version: number;
  /** The mailbox of the ticket. */
  subchannelId: number | null;
  occurredAt: number;
  changes: readonly FieldChange[];
  actor: EventActor;
  cause: 'request' | 'analysis' | 'refresh' | 'schedule' | 'message' | 'execution';
  /** Set if the ticket was opened because its `dueBy` passed. */
  autoOpenedDueToDueDate?: true;
  /** The trace of the request that caused it. */
  traceparent?: string;
}

/** A field that changed. The values are told of enums, ids and times only, never of text. */
export interface FieldChange {
  field: string;
  oldValue?: JsonValue;
  newValue?: JsonValue;
}

/** Who caused an event. */
export interface EventActor {
  profileId: number | null;
  kind: string;
}

/** Who caused an event, and in which trace. */
export interface EventOrigin extends EventActor {
  traceparent?: string | undefined;
}

/** How the values of a field are told, if they may be. */
export type TellValue = (field: string, value: unknown) => JsonValue | undefined;

/** Fields that every change touches, or that follow from others. */
const untold = new Set(['version', 'modifiedAt', 'bodyPlain', 'bodyClean', 'process']);

/** Lists what an event says of a change. Source: decisions.md section 12. */
export function fieldChanges(
  changed: readonly string[],
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  tell: TellValue,
): FieldChange[] {
  return changed
    .filter((field) => !untold.has(field))
    .map((field) => {
      const oldValue = tell(field, before[field]);
      const newValue = tell(field, after[field]);
      return {
        field,
        ...(oldValue === undefined ? {} : { oldValue }),
        ...(newValue === undefined ? {} : { newValue }),
      };
    });
}
