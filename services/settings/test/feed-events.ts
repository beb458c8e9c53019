import { create } from '@bufbuild/protobuf';
import {
  ChangeCause,
  type TicketChanged,
  TicketChangedSchema,
  TicketChangeType,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';

/** A change of a ticket whose event id follows from ticket and version. */
export function ticketChanged(ticketId: number, version: number, changes: Partial<TicketChanged> = {}): TicketChanged {
  return create(TicketChangedSchema, {
    eventId: `evt_${ticketId}_${version}`,
    type: TicketChangeType.TICKET_UPDATED,
    ticketId,
    version,
    occurredAt: { $typeName: 'google.protobuf.Timestamp', seconds: 1_769_850_600n, nanos: 0 },
    changes: [
      {
        $typeName: 'ticketing.events.v1.FieldChange',
        field: 'status',
        oldValue: { $typeName: 'google.protobuf.Value', kind: { case: 'stringValue', value: 'open' } },
        newValue: { $typeName: 'google.protobuf.Value', kind: { case: 'stringValue', value: 'closed' } },
      },
    ],
    actor: { $typeName: 'ticketing.events.v1.Actor', profileId: 7, kind: 'user' },
    cause: ChangeCause.REQUEST,
    ...changes,
  });
}

/** Changes of tickets in a row, one of each ticket after the other. */
export function ticketChanges(count: number, tickets = 1): TicketChanged[] {
  return Array.from({ length: count }, (_, index) =>
    ticketChanged(1 + (index % tickets), 1 + Math.floor(index / tickets)),
  );
}
