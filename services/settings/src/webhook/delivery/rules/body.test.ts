import { create, fromJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import {
  ChangeCause,
  type TicketChanged,
  TicketChangedSchema,
  TicketChangeType,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import { describe, expect, it } from 'vitest';
import { eventBody, testBody } from './body.ts';

const at = 1_769_850_600;

function event(fields: Partial<TicketChanged> = {}): TicketChanged {
  const common = { eventId: 'evt_1', ticketId: 12, version: 3, occurredAt: toTimestamp(at) };
  return Object.assign(create(TicketChangedSchema, { ...common, type: TicketChangeType.TICKET_UPDATED }), fields);
}

const change = (field: string, oldValue: string | number, newValue: string | number) =>
  ({
    $typeName: 'ticketing.events.v1.FieldChange',
    field,
    oldValue: fromJson(ValueSchema, oldValue),
    newValue: fromJson(ValueSchema, newValue),
  }) as const;

describe('the body of a delivery', () => {
  it.each([
    [
      'a change',
      event({
        changes: [change('status', 'open', 'closed')],
        subchannelId: 4,
        cause: ChangeCause.REQUEST,
        actor: { $typeName: 'ticketing.events.v1.Actor', profileId: 7, kind: 'user' },
      }),
    ],
    [
      'a message',
      event({
        type: TicketChangeType.CONVERSATION_CREATED,
        conversationId: 5,
        cause: ChangeCause.MESSAGE,
        actor: { $typeName: 'ticketing.events.v1.Actor', kind: 'service' },
      }),
    ],
    ['a deletion', event({ type: TicketChangeType.TICKET_DELETED })],
  ])('is, for %s', async (name, given) => {
    const body = `${JSON.stringify(JSON.parse(eventBody(given)), undefined, 2)}\n`;
    await expect(body).toMatchFileSnapshot(`golden/webhook-body-${name.replace(' ', '-')}.json`);
  });

  it('is, for a test message', () => {
    expect(testBody(3, at)).toBe('{"type":"webhook.test","timestamp":"2026-01-31T09:10:00Z","data":{"webhookId":3}}');
  });
});

describe('the body of a long event', () => {
  const estimateBytes = (given: TicketChanged) => Buffer.byteLength(eventBody(given));
  /** An event whose body has a number of bytes, if nothing is left out. */
  function eventOfSize(bytes: number): TicketChanged {
    const missing = bytes - estimateBytes(event({ changes: [change('status', '', 'closed')] }));
    return event({ changes: [change('status', 'a'.repeat(missing), 'closed')] });
  }

  it('is whole with 19,999 bytes, and loses its old and new values with one more', () => {
    const longest = eventOfSize(19_999);
    expect(estimateBytes(longest)).toBe(19_999);
    const { data } = JSON.parse(eventBody(eventOfSize(20_000)));
    expect(data.changes).toEqual([{ field: 'status' }]);
    expect(data).toMatchObject({ ticketId: 12, version: 3 });
  });

  it('counts bytes, not characters', () => {
    expect(estimateBytes(event({ changes: [change('status', 'é'.repeat(10_000), 'closed')] }))).toBeLessThan(500);
  });

  it('loses the last fields where their names alone are too long', () => {
    const fields = Array.from({ length: 3000 }, (_, index) => change(`field${index}`, 1, 2));
    const body = eventBody(event({ changes: fields }));
    expect(Buffer.byteLength(body)).toBeLessThan(20_000);
    expect(Buffer.byteLength(body)).toBeGreaterThan(19_900);
    const { changes } = JSON.parse(body).data;
    expect(changes.slice(0, 2)).toEqual([{ field: 'field0' }, { field: 'field1' }]);
  });
});
