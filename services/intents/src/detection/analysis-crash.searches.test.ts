import { TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { crashAtEachWrite, crashAtWrite } from '@ticketing/testkit/crash.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AnalysisHarness, startAnalysisHarness } from '../../test/analysis-harness.ts';

let used: AnalysisHarness;

beforeAll(async () => {
  used = await startAnalysisHarness('api');
  await used.agent({ name: 'Lower the instalment', detection: { keywords: ['Abschlag'] } });
});
afterAll(() => used.stop());

/** Ends the leases of the process that has died, as time does. */
async function expireLeases(): Promise<void> {
  await used.database
    .collection('analyses')
    .updateMany({ lease: { $ne: null } }, { $set: { 'lease.expiresAt': new Date(0) } });
}

// guarantee: F29
test('an analysis is applied once, and completely, wherever the process dies between writes', async () => {
  const writes = await crashAtEachWrite(async (nth, when) => {
    const { id } = used.ticket();
    const hasCrashed = await crashAtWrite(
      nth,
      when,
      async () => {
        await used.client.analyseTicket({ ticketId: id }).catch(() => undefined);
      },
      { isWholeProcess: true },
    );
    await expireLeases();
    // The ticket has changed meanwhile: the earlier proposals are applied.
    const ticket = used.model.tickets.get(id);
    const proposed = await used.intents.ofTicket(id);
    if (ticket && proposed.length > 0) Object.assign(ticket, { subject: 'Umzug', bodyClean: 'Etwas ganz anderes' });
    await used.client.analyseTicket({ ticketId: id });
    expect(await used.queued()).toBe(0);
    const applied = used.appliedTo(id);
    expect(applied).toHaveLength(1);
    const stored = await used.intents.ofTicket(id);
    expect(stored).toMatchObject([{ status: TicketIntentStatus.READY }]);
    expect(applied[0]?.text?.languageCode).toBe('de');
    expect(applied[0]?.intents?.intents.map((one) => one.id)).toEqual(stored.map((one) => one.id));
    return hasCrashed;
  });
  expect(writes).toBeGreaterThanOrEqual(5);
});

test('two processes share the queue, and each analysis is made once', async () => {
  const two = await Promise.all([1, 2].map(() => used.startInstance({ TICKETING_INTENTS_ROLES: 'api,analyser' })));
  const tickets = Array.from({ length: 40 }, () => used.ticket().id);
  const { sent } = used.model;
  await used.client.requestAnalyses({ requests: tickets.map((ticketId) => ({ ticketId })) });
  await expect.poll(() => used.queued()).toBe(0);
  expect(tickets.map((id) => used.appliedTo(id).length)).toEqual(tickets.map(() => 1));
  expect(used.model.sent - sent).toBe(tickets.length);
  await Promise.all(two.map((one) => one.stop()));
});

test('a process that stops leaves its analysis to another one at once', async () => {
  const { id } = used.ticket();
  const instance = await used.startInstance({ TICKETING_INTENTS_ROLES: 'api,analyser' });
  let isHeld = false;
  const held = Promise.withResolvers<void>();
  used.model.before = (method) => {
    isHeld ||= method === 'apply';
    return method === 'apply' ? held.promise : undefined;
  };
  await used.ask(id);
  await expect.poll(() => isHeld).toBe(true);
  const stopped = instance.stop();
  held.resolve();
  await stopped;
  await used.client.analyseTicket({ ticketId: id });
  expect(used.appliedTo(id)).toHaveLength(1);
});
