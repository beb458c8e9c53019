import { createHash } from 'node:crypto';
import { create, fromBinary } from '@bufbuild/protobuf';
import {
  ChangeCause,
  type TicketChanged,
  TicketChangedSchema,
  TicketChangeType,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { Channel, Priority, TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import { timeOrderedId } from '@ticketing/runtime/time-ordered-id.ts';
import { changeFields, newTicket } from '../../services/tickets/src/ticket/rules/change.ts';
import {
  createdEvent,
  deletedEvent,
  type TicketEvent,
  updatedEvent,
} from '../../services/tickets/src/ticket/rules/event.ts';
import { noSla } from '../../services/tickets/src/ticket/rules/sla.ts';
import { ticketChangedMessage } from '../../services/tickets/src/ticket/to-proto.ts';

const ticketId = 12;
const createdAt = Date.UTC(2026, 0, 31, 9, 10) / 1000;
const agent = { profileId: 7, kind: 'user' };

/** When the ticket got a version. Units: Unix seconds. */
const toTime = (version: number) => createdAt + (version - 1) * 60;

/** The same id in every run. */
function exampleId(version: number): string {
  const bytes = createHash('sha256').update(String(version)).digest();
  const runtime = { now: () => toTime(version) * 1000, randomBytes: (size: number) => bytes.subarray(0, size) };
  return timeOrderedId('evt', { ...systemRuntime, ...runtime });
}

/** An event of each type, of the life of one ticket. The tickets service makes those that it sends today. */
export function exampleEvents(): TicketChanged[] {
  const ticket = newTicket(
    {
      channel: Channel.EMAIL,
      from: 'kim@example.com',
      subject: 'Meter reading',
      body: 'It is 4711.',
      subchannelId: 4,
      tagIds: [3],
    },
    { id: ticketId, now: toTime(1), creator: { profileId: 7, isHuman: true }, lastAgentRouting: false, sla: noSla },
  );
  const fields = {
    priority: Priority.HIGH,
    status: TicketStatus.PENDING,
    dueBy: createdAt + 86_400,
    subject: 'Reading',
  };
  const change = changeFields(ticket, fields, toTime(2));
  const header = (version: number) => ({ eventId: exampleId(version), actor: agent });
  return [
    published(createdEvent(ticket, header(1))),
    published(updatedEvent(ticket, change, header(2))),
    later(TicketChangeType.CONVERSATION_CREATED, 3, { cause: ChangeCause.MESSAGE, conversationId: 31 }),
    later(TicketChangeType.CONVERSATION_PUBLISHED, 4, { cause: ChangeCause.REQUEST, conversationId: 32 }),
    later(TicketChangeType.CONVERSATION_FAILED, 5, { cause: ChangeCause.DELIVERY_FAILED, conversationId: 32 }),
    later(TicketChangeType.INTENT_EXECUTED, 6, { cause: ChangeCause.EXECUTION, intentId: 9 }),
    published(deletedEvent({ ...ticket, version: 6 }, header(7), toTime(7))),
  ];
}

function published(event: TicketEvent): TicketChanged {
  const { value } = ticketChangedMessage(ticketId, event);
  if (!value) throw new Error('an event has no value');
  return fromBinary(TicketChangedSchema, value);
}

/** An event of a type that is not sent yet. */
function later(
  type: TicketChangeType,
  version: number,
  fields: { cause: ChangeCause; conversationId?: number; intentId?: number },
): TicketChanged {
  return create(TicketChangedSchema, {
    eventId: exampleId(version),
    type,
    ticketId,
    version,
    subchannelId: 4,
    occurredAt: toTimestamp(toTime(version)),
    actor: fields.cause === ChangeCause.REQUEST ? agent : { kind: 'service' },
    ...fields,
  });
}
