import { DomainError } from '@ticketing/errors/domain-error.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { expect, onTestFinished, test } from 'vitest';
import { type OutgoingMail, returnAddresses, ticketTokens } from '../message/rules/outgoing-mail.ts';
import { type MailerOptions, startMailer } from './mailer.ts';
import type { ClaimedMail, MailQueue, MailState } from './store.ts';
import type { MailOutcome, MailTransport } from './transport.ts';

const mail: OutgoingMail = {
  ...{ id: 5, ticketId: 7, messageId: '<1@shop.example>', references: [], subchannelId: 1, from: 'help@shop.example' },
  ...{ fromName: null, to: ['kim@example.com'], cc: [], bcc: [], subject: 'x', text: 'x', html: null, attachments: [] },
  ...{ queuedAt: 1_000, isAutomatic: false, attempts: 0, reached: [] },
};
const accepted: MailOutcome = { accepted: ['kim@example.com'], deferred: [], refused: [], error: null };

/** A queue in memory, and what became of its mails. */
function memoryQueue(waiting: OutgoingMail[], isPublishingOver = false) {
  const settled: [number, MailState][] = [];
  const withdrawn: number[] = [];
  const postponed: [number, number][] = [];
  const queue: MailQueue = {
    claim: async () => {
      const next = waiting.shift();
      return next && { mail: next, owner: 'me', revision: 1, isPublishingOver };
    },
    renew: async () => undefined,
    settle: async (claimed: ClaimedMail, state) => settled.push([claimed.mail.id, state]) === 0,
    postpone: async (claimed: ClaimedMail, delayMs) => void postponed.push([claimed.mail.id, delayMs]),
    isCurrent: async () => true,
    withdraw: async (claimed) => withdrawn.push(claimed.mail.id) > 0,
    size: async () => ({ count: waiting.length, oldestAt: undefined }),
  };
  return { queue, settled, postponed, withdrawn };
}

function start(options: Partial<MailerOptions> & { send?: MailTransport['send'] }, waiting: OutgoingMail[] = [mail]) {
  const memory = memoryQueue(waiting);
  let isClosed = false;
  const mailer = startMailer({
    queue: memory.queue,
    transport: {
      send: options.send ?? (async () => accepted),
      close: async () => {
        isClosed = true;
      },
    },
    findFiles: async () => [],
    toText: async (html) => html,
    openFile: async function* () {},
    tokens: ticketTokens(Buffer.alloc(32)),
    returnAddresses: returnAddresses(Buffer.alloc(32)),
    settings: async () => ({ mailFrom: null, subchannels: new Map() }),
    isCommitted: async () => true,
    showDelivery: async () => undefined,
    freeMessageId: async () => undefined,
    log: createLogger('test', 'silent'),
    count: () => undefined,
    maxConcurrent: 2,
    opened: Promise.resolve(),
    now: () => 1_000_000,
    random: () => 0.5,
    times: { pollMs: { busy: 5, idle: 5 }, renewMs: 1_000, attemptMs: 60_000, graceMs: 20 },
    ...options,
  });
  onTestFinished(() => mailer.stop());
  return { ...memory, mailer, isClosed: () => isClosed };
}

/** Hangs until the attempt is aborted. */
const hang: MailTransport['send'] = (_mail, signal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

test('a message that its ticket does not list yet is looked at again, the later the older it is', async () => {
  for (const [age, delayMs] of [
    [0, 250],
    [5, 5_000],
    [3_600, 600_000],
  ] as const) {
    const { postponed } = start({ isCommitted: async () => false }, [{ ...mail, queuedAt: 1_000 - age }]);
    await expect.poll(() => postponed).toEqual([[5, delayMs]]);
  }
});

test('the mail of an interrupted publishing is withdrawn and its Message-ID freed, unless the draft has changed', async () => {
  const freed: string[] = [];
  const freeMessageId = async ({ messageId }: OutgoingMail) => void freed.push(messageId);
  const { queue, withdrawn, postponed } = memoryQueue([mail, { ...mail, id: 6, messageId: '<2@shop.example>' }], true);
  const { withdraw } = queue;
  queue.withdraw = async (claimed) => claimed.mail.id !== 6 && withdraw(claimed);
  start({ queue, isCommitted: async () => false, freeMessageId });
  await expect.poll(() => [withdrawn, freed, postponed]).toEqual([[5], ['<1@shop.example>'], [[6, 0]]]);
});

test('a mail that its message no longer is, is not sent', async () => {
  const { queue, postponed, settled } = memoryQueue([mail]);
  queue.isCurrent = async () => false;
  start({ queue });
  await expect.poll(() => postponed).toEqual([[5, 0]]);
  expect(settled).toEqual([]);
});

test('a mail without a sender waits until the settings were read', async () => {
  const { postponed, settled } = start({ settings: async () => ({ mailFrom: null, subchannels: undefined }) }, [
    { ...mail, from: null },
    { ...mail, id: 6 },
  ]);
  await expect.poll(() => [postponed.length, settled.length]).toEqual([1, 1]);
});

test('only so many mails are sent at once', async () => {
  let running = 0;
  let most = 0;
  const send: MailTransport['send'] = async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise(setImmediate);
    running -= 1;
    return accepted;
  };
  const { settled } = start(
    { send },
    Array.from({ length: 20 }, (_, id) => ({ ...mail, id })),
  );
  await expect.poll(() => settled.length).toBe(20);
  expect(most).toBe(2);
});

test('an attempt that takes too long counts', async () => {
  const { settled } = start({
    send: hang,
    times: { pollMs: { busy: 5, idle: 5 }, renewMs: 1_000, attemptMs: 10, graceMs: 20 },
  });
  await expect
    .poll(() => settled)
    .toEqual([
      [
        5,
        expect.objectContaining({
          status: 'queued',
          attempts: 1,
          pauseMs: 60_000,
          error: expect.stringMatching(/^timeout/),
        }),
      ],
    ]);
});

test('an error of the program counts as an attempt, so that no mail is tried for ever', async () => {
  const send = () => Promise.reject(new Error('a bug'));
  const { settled } = start({ send }, [{ ...mail, attempts: 6 }]);
  await expect
    .poll(() => settled)
    .toEqual([
      [5, expect.objectContaining({ status: 'failed', attempts: 7, error: expect.stringMatching(/^internal/) })],
    ]);
});

test('the result is stored as soon as the store is available again, and has space', async () => {
  const failures = ['store_unavailable', 'storage_full'];
  const { queue, settled } = memoryQueue([mail]);
  const { settle } = queue;
  queue.settle = async (claimed, state) => {
    const reason = failures.shift();
    if (reason !== undefined) throw new DomainError('unavailable', reason, 'The database fails.');
    return settle(claimed, state);
  };
  let sends = 0;
  const send: MailTransport['send'] = async () => {
    sends += 1;
    return accepted;
  };
  start({ queue, send });
  await expect.poll(() => settled).toEqual([[5, expect.objectContaining({ status: 'sent', attempts: 1 })]]);
  expect(sends).toBe(1);
});

test('a process that stops finishes what ends soon, gives back the rest uncounted, and closes the transport', async () => {
  let finish: (outcome: MailOutcome) => void = () => undefined;
  const soon = new Promise<MailOutcome>((resolve) => {
    finish = resolve;
  });
  let begun = 0;
  const send: MailTransport['send'] = (composed, signal) => {
    begun += 1;
    return composed.messageId === '<soon@shop.example>' ? soon : hang(composed, signal);
  };
  const { mailer, settled, postponed, isClosed } = start({ send }, [
    { ...mail, id: 6, messageId: '<soon@shop.example>' },
    mail,
  ]);
  await expect.poll(() => begun).toBe(2);
  const stopped = mailer.stop();
  finish(accepted);
  await stopped;
  expect(settled).toEqual([[6, expect.objectContaining({ status: 'sent' })]]);
  expect(postponed).toEqual([[5, 0]]);
  expect(isClosed()).toBe(true);
});
