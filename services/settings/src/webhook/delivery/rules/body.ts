import type { JsonObject } from '@bufbuild/protobuf';
import { type TicketChanged, TicketChangedSchema } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { formatRfc3339 } from '@ticketing/rest/codec/date-time.ts';
import { messageEncoder } from '@ticketing/rest/codec/encode.ts';

/** The type of a test message. */
export const testType = 'webhook.test';

/** A body has fewer bytes than this. */
const bodyLimit = 20_000;
const encodeEvent = messageEncoder(TicketChangedSchema);

/**
 * Makes the body of the delivery of an event. If it is too long, it leaves out the old and new values, and then the
 * last changed fields.
 *
 * Source: docs/reference/api.md, Delivery.
 */
export function eventBody(event: TicketChanged): string {
  const data = encodeEvent(event);
  const whole = renderJson(data);
  if (fits(whole)) return whole;
  const fields = event.changes.map(({ field }) => ({ field }));
  const empty = Buffer.byteLength(renderJson({ ...data, changes: [] }));
  let left = bodyLimit - 1 - empty;
  const kept = fields.findIndex((field) => {
    left -= Buffer.byteLength(JSON.stringify(field)) + 1;
    return left < 0;
  });
  return renderJson({ ...data, changes: kept < 0 ? fields : fields.slice(0, kept) });
}

/** Returns the body of a test message. Units: Unix seconds. */
export function testBody(webhookId: number, at: number): string {
  return JSON.stringify({ type: testType, timestamp: formatRfc3339(at), data: { webhookId } });
}

function renderJson(data: JsonObject): string {
  return JSON.stringify({ type: data.type, timestamp: data.occurredAt, data });
}

function fits(body: string): boolean {
  return Buffer.byteLength(body) < bodyLimit;
}
