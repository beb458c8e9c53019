import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';

let tickets: TicketsHarness;

beforeAll(async () => {
  tickets = await startHarness({ variables: { ROLES: 'api,scheduler' } });
});
afterAll(() => tickets.stop());

const post = async (body: object): Promise<number> =>
  (await tickets.request('POST', '/ticket', { body: { channel: 'chat', ...body } })).json.id;
const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

// These tests wait for the scheduler, so they run concurrently.
// guarantee: F36
test.concurrent('a pending ticket is opened once within 5 s after its dueBy, with two replicas; no other ticket is changed', async () => {
  const other = await tickets.startInstance();
  try {
    const due = await Promise.all(
      Array.from({ length: 30 }, (_, index) => post({ status: 'pending', dueBy: inSeconds(index % 2) })),
    );
    const others = await Promise.all([
      post({ status: 'pending' }),
      post({ status: 'pending', dueBy: inSeconds(3600) }),
      post({ status: 'closed', dueBy: inSeconds(-10) }),
      post({ status: 'open', dueBy: inSeconds(-10) }),
    ]);
    await vi.waitFor(
      async () => {
        for (const id of due) expect((await tickets.documentOf(id)).status).toBe('open');
      },
      { timeout: 30_000, interval: 100 },
    );
    for (const id of due) {
      const { outbox, version, worklog } = await tickets.documentOf(id);
      expect([version, worklog]).toEqual([2, []]);
      expect(outbox[1]).toMatchObject({
        type: 'ticket.updated',
        version: 2,
        cause: 'schedule',
        autoOpenedDueToDueDate: true,
        actor: { profileId: null, kind: 'service' },
        changes: [{ field: 'status', oldValue: 'pending', newValue: 'open' }],
      });
    }
    for (const id of others) expect((await tickets.documentOf(id)).version).toBe(1);
  } finally {
    await other.stop();
  }
});

test.concurrent('a ticket that is set to pending again with a later dueBy is opened again', async () => {
  const id = await post({ status: 'pending', dueBy: inSeconds(-5) });
  const isOpen = async () => expect((await tickets.documentOf(id)).status).toBe('open');
  await vi.waitFor(isOpen, { timeout: 30_000, interval: 100 });
  await tickets.request('PATCH', `/ticket/${id}`, { body: { status: 'pending', dueBy: inSeconds(1) } });
  await vi.waitFor(isOpen, { timeout: 30_000, interval: 100 });
  expect((await tickets.documentOf(id)).version).toBe(4);
});

test.concurrent('a replica without the role scheduler opens no tickets', async () => {
  const idle = await startHarness();
  try {
    const body = { channel: 'chat', status: 'pending', dueBy: inSeconds(-5) };
    const { json } = await idle.request('POST', '/ticket', { body });
    // A ticket that was due later is opened by its own replica, so the scheduler of this one would have run too.
    const later = await post({ status: 'pending', dueBy: inSeconds(0) });
    await vi.waitFor(async () => expect((await tickets.documentOf(later)).status).toBe('open'), {
      timeout: 30_000,
      interval: 100,
    });
    expect((await idle.documentOf(json.id)).status).toBe('pending');
  } finally {
    await idle.stop();
  }
});

test('a replica without the role api serves no requests', async () => {
  const scheduler = await tickets.startInstance({ TICKETING_TICKETS_ROLES: 'scheduler' });
  try {
    const response = await fetch(`http://127.0.0.1:${scheduler.ports.http}/ticket/1`);
    expect(response.status).toBe(404);
  } finally {
    await scheduler.stop();
  }
});
