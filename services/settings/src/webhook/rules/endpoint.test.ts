import { ChangeCause, TicketChangeType } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { describe, expect, it } from 'vitest';
import { liveSecrets, rotated, takesEvent, type WebhookSecret } from './endpoint.ts';

const { TICKET_CREATED, TICKET_UPDATED } = TicketChangeType;

describe('an endpoint takes an event', () => {
  const event = { type: TICKET_CREATED, subchannelId: 4, cause: ChangeCause.REQUEST };

  it.each([
    [true, 'without filters', { eventTypes: [], subchannelIds: [] }],
    [true, 'of its types and subchannels', { eventTypes: [TICKET_CREATED], subchannelIds: [3, 4] }],
    [false, 'of another type', { eventTypes: [TICKET_UPDATED], subchannelIds: [] }],
    [false, 'of another subchannel', { eventTypes: [], subchannelIds: [3] }],
  ])('%s: %s', (isTaken, _which, filters) => {
    expect(takesEvent(filters, event)).toBe(isTaken);
  });

  it('without a subchannel only if it takes those of all tickets', () => {
    const without = { type: TICKET_CREATED, cause: ChangeCause.REQUEST };
    expect(takesEvent({ eventTypes: [], subchannelIds: [4] }, without)).toBe(false);
    expect(takesEvent({ eventTypes: [], subchannelIds: [] }, without)).toBe(true);
  });

  it('never if a refresh flag has caused it', () => {
    const refreshed = { ...event, cause: ChangeCause.REFRESH };
    expect(takesEvent({ eventTypes: [], subchannelIds: [] }, refreshed)).toBe(false);
  });
});

describe('the secrets of an endpoint', () => {
  const hour = 3_600_000;
  const named = (data: string): WebhookSecret => ({
    sealed: { keyId: '', iv: '', tag: '', data },
    endsAt: null,
    requestId: null,
  });
  const liveAt = (secrets: readonly WebhookSecret[], now: number) =>
    liveSecrets(secrets, now).map((one) => one.sealed.data);

  it('sign for 24 hours after their rotation, and not longer after another one', () => {
    const once = rotated([named('a')], named('b'), 0);
    expect(liveAt(once, 24 * hour - 1)).toEqual(['b', 'a']);
    expect(liveAt(once, 24 * hour)).toEqual(['b']);
    const twice = rotated(once, named('c'), 10 * hour);
    expect(liveAt(twice, 24 * hour - 1)).toEqual(['c', 'b', 'a']);
    expect(liveAt(twice, 24 * hour)).toEqual(['c', 'b']);
    expect(liveAt(twice, 34 * hour)).toEqual(['c']);
  });

  it('are removed by the next rotation after they have ended', () => {
    const once = rotated([named('a')], named('b'), 0);
    expect(rotated(once, named('c'), 24 * hour).map(({ sealed }) => sealed.data)).toEqual(['c', 'b']);
  });
});
