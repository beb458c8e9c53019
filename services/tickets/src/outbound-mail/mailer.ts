import { setTimeout as wait } from 'node:timers/promises';
import { backOffMs } from '@ticketing/runtime/back-off.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { aborted, startWakefulLoop, type WakefulLoop, type WorkFound } from '@ticketing/runtime/wakeful-loop.ts';
import { isStoreOutage } from '@ticketing/store/document/transient-error.ts';
import { whileRenewing } from '@ticketing/store/leases/lease.ts';
import type { MessageReference } from '../message/external-id-store.ts';
import { type OutgoingMail, recipientsLeft } from '../message/rules/outgoing-mail.ts';
import type { SenderSettings } from '../ticket/rules/subchannels.ts';
import { type AttemptContext, attemptMail, stateAfter } from './attempt.ts';
import type { ClaimedMail, MailQueue, MailState } from './store.ts';

export interface MailerOptions extends AttemptContext {
  queue: MailQueue;
  settings(): Promise<SenderSettings>;
  /** Whether the message of a mail is part of its ticket, and the ticket not deleted. */
  isCommitted(mail: OutgoingMail): Promise<boolean>;
  /** Has the ticket of a message show the state of its mail, and a failure. Never fails. */
  showDelivery(message: MessageReference): Promise<void>;
  /** Frees the `Message-ID` of a mail that will not be sent. */
  freeMessageId(mail: OutgoingMail): Promise<void>;
  /** Unix ms. */
  now(): number;
  log: Logger;
  /** Counts an attempt. */
  count(outcome: MailState['status']): void;
  /** How many mails are sent at once. */
  maxConcurrent: number;
  /** Resolves when the database is opened. */
  opened: Promise<unknown>;
  times?: MailerTimes;
}

/** The times of a mailer. Tests shorten them. */
interface MailerTimes {
  pollMs: { busy: number; idle: number };
  /** How often a lease is renewed. */
  renewMs: number;
  /** How long an attempt may take. */
  attemptMs: number;
  /** How long the attempts in progress may go on when the process stops. */
  graceMs: number;
}

const defaultTimes: MailerTimes = {
  pollMs: { busy: 500, idle: 5_000 },
  renewMs: 5_000,
  attemptMs: 10 * 60_000,
  graceMs: 8_000,
};
/** The delay of a mail without a sender while the settings were never read. */
const postponeMs = 5_000;
const minPostponeMs = 250;
const maxPostponeMs = 10 * 60_000;
const maxPauseMs = 5_000;

/**
 * Sends the mails that are queued. Several processes share them by leases: a process that dies, or loses its lease without
 * noticing, can only cause that a mail is sent twice, with the same `Message-ID`.
 *
 * Source: docs/reference/api.md, Outgoing mail.
 */
export function startMailer(options: MailerOptions): WakefulLoop {
  const { queue, transport, log, opened, maxConcurrent, times = defaultTimes } = options;
  const inProgress = new Set<Promise<void>>();
  const stopping = new AbortController();

  function begin(claimed: ClaimedMail): void {
    const { id, ticketId } = claimed.mail;
    const ended = sendClaimed(options, claimed, times, stopping.signal)
      .catch((error: unknown) => log.error({ err: error, ticketId, conversationId: id }, 'a mail was not sent'))
      .finally(() => inProgress.delete(ended));
    inProgress.add(ended);
  }

  async function run(signal: AbortSignal): Promise<WorkFound> {
    while (inProgress.size < maxConcurrent && !signal.aborted) {
      const claimed = await queue.claim();
      if (!claimed) return inProgress.size > 0 ? 'done' : 'nothing';
      begin(claimed);
    }
    await Promise.race([...inProgress, aborted(signal)]);
    return 'more';
  }

  const loop = startWakefulLoop({
    pollMs: times.pollMs,
    run,
    after: opened,
    onError(error, failures) {
      if (failures === 0) log.warn({ err: error }, 'outgoing mails cannot be read');
      return backOffMs(failures, { firstMs: 100, longestMs: maxPauseMs });
    },
  });

  return {
    wake: loop.wake,
    async stop() {
      await loop.stop();
      const giveUp = setTimeout(() => stopping.abort(), times.graceMs);
      await Promise.all(inProgress);
      clearTimeout(giveUp);
      await transport.close();
    },
  };
}

/** Sends a mail while its lease is renewed, and stores the outcome. */
async function sendClaimed(
  options: MailerOptions,
  claimed: ClaimedMail,
  { renewMs, attemptMs }: MailerTimes,
  stopping: AbortSignal,
): Promise<void> {
  const { queue, log, count } = options;
  const { mail } = claimed;
  await whileRenewing(
    () => queue.renew(claimed),
    renewMs,
    async () => {
      const settings = await options.settings();
      if (mail.from === null && !settings.subchannels) return queue.postpone(claimed, postponeMs);
      if (!(await options.isCommitted(mail))) return leaveUncommitted(options, claimed);
      // From here on the message cannot change, because it is no draft.
      if (!(await queue.isCurrent(claimed))) return queue.postpone(claimed, 0);
      const state = await attemptUntilStopped(options, mail, settings, attemptMs, stopping);
      if (!state) return queue.postpone(claimed, 0);
      count(state.status);
      if (state.error !== null) logError(log, mail, state);
      const isShown = await untilStored(() => queue.settle(claimed, state), stopping);
      if (isShown) await options.showDelivery({ ticketId: mail.ticketId, conversationId: mail.id });
    },
  );
}

/** Ends the claim of a mail whose message is not part of its ticket; withdraws it if its publishing was interrupted. */
async function leaveUncommitted(options: MailerOptions, claimed: ClaimedMail): Promise<void> {
  const { queue, log, now } = options;
  const { mail, isPublishingOver } = claimed;
  if (!isPublishingOver) return queue.postpone(claimed, uncommittedDelayMs(now(), mail));
  if (!(await queue.withdraw(claimed))) return queue.postpone(claimed, 0);
  log.info(
    { ticketId: mail.ticketId, conversationId: mail.id },
    'a draft whose publishing was interrupted is not sent',
  );
  await options.freeMessageId(mail);
}

/** Makes an attempt. Returns undefined if it was given up because the process stops. */
async function attemptUntilStopped(
  context: MailerOptions,
  mail: OutgoingMail,
  settings: SenderSettings,
  attemptMs: number,
  stopping: AbortSignal,
): Promise<MailState | undefined> {
  const timeout = AbortSignal.timeout(attemptMs);
  try {
    return await attemptMail(context, mail, settings, AbortSignal.any([stopping, timeout]));
  } catch (error) {
    if (stopping.aborted) return undefined;
    const isTimeout = timeout.aborted;
    const { id, ticketId } = mail;
    // An error of this program must not keep a mail from reaching the end of its schedule.
    if (!isTimeout) context.log.error({ err: error, ticketId, conversationId: id }, 'a mail could not be composed');
    return stateAfter(context, mail, {
      ...{ accepted: [], refused: [], deferred: recipientsLeft(mail).addresses },
      error: isTimeout ? 'timeout: the attempt took too long' : 'internal: the mail could not be composed',
    });
  }
}

/** A message that its ticket does not list yet is listed soon, or never. */
function uncommittedDelayMs(now: number, { queuedAt }: OutgoingMail): number {
  return Math.min(maxPostponeMs, Math.max(minPostponeMs, now - queuedAt * 1000));
}

/** The error can contain addresses after its first colon, so only the part before is logged. */
function logError(
  log: Logger,
  { id, ticketId, messageId }: OutgoingMail,
  { status, attempts, error }: MailState,
): void {
  const about = { ticketId, conversationId: id, messageId, attempts, reason: error?.split(':')[0] };
  if (status === 'failed') log.warn(about, 'a mail has failed');
  else log.info(about, 'a mail is sent again later');
}

/** Repeats a write while the store is unavailable or full: without it the mail would be sent again. */
async function untilStored<Result>(write: () => Promise<Result>, stopping: AbortSignal): Promise<Result> {
  for (let pauseMs = 100; ; pauseMs = Math.min(maxPauseMs, 2 * pauseMs)) {
    try {
      return await write();
    } catch (error) {
      if (stopping.aborted || !isStoreOutage(error)) throw error;
    }
    await wait(pauseMs, undefined, { signal: stopping }).catch(() => undefined);
  }
}
