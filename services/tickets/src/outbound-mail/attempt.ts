import { normalAddress, type OutgoingMail, recipientsLeft } from '../message/rules/outgoing-mail.ts';
import { chooseSender } from '../message/rules/reply.ts';
import type { TicketTokens } from '../message/rules/ticket-token.ts';
import type { Subchannels } from '../ticket/rules/subchannels.ts';
import { type ComposeOptions, composeMail } from './compose.ts';
import type { MailState } from './store.ts';
import type { MailOutcome, MailTransport } from './transport.ts';

/** The dependencies of an attempt to send a mail. */
export interface AttemptContext {
  transport: MailTransport;
  openFile: ComposeOptions['openFile'];
  tokens: TicketTokens;
  /** From 0 to 1. */
  random(): number;
}

/** The settings that decide who sends a mail which was queued without a sender. */
export interface SenderSettings {
  mailFrom: string | null;
  subchannels: Subchannels;
}

/**
 * Makes one attempt to send a mail to the recipients that it has not reached yet. A mail is sent when it has reached
 * all recipients, and has failed when one was refused, or cannot be reached within the attempts of the schedule.
 *
 * Errors: that of the signal, when it aborts the attempt.
 * Source: docs/reference/api.md, Outgoing mail.
 */
export async function attemptMail(
  context: AttemptContext,
  mail: OutgoingMail,
  settings: SenderSettings,
  signal: AbortSignal,
): Promise<MailState> {
  const attempts = mail.attempts + 1;
  const failed = (error: string): MailState => ({ status: 'failed', attempts, reached: mail.reached, error });
  const { from, fromName } = mail.from === null ? currentSender(mail, settings) : mail;
  if (from === null) return failed('no_sender: neither the subchannel nor the setting mailFrom has an address');
  if (normalAddress(from) === undefined) return failed('no_sender: the address of the sender is not valid');
  const { addresses, invalid } = recipientsLeft(mail);
  if (addresses.length === 0 && invalid.length > 0) return failed('invalid_recipient: not an e-mail address');
  if (addresses.length === 0) {
    return mail.reached.length > 0
      ? { status: 'sent', attempts, reached: mail.reached, error: null }
      : failed('no_recipient: the mail has no recipient');
  }
  const { transport, openFile, tokens } = context;
  const composed = composeMail(mail, {
    sender: { address: from, name: fromName },
    recipients: addresses,
    tokens,
    openFile,
  });
  const outcome = await transport.send(composed, signal);
  return stateAfter(context, mail, invalid.length > 0 ? withInvalid(outcome, invalid) : outcome);
}

function currentSender({ subchannelId }: OutgoingMail, { subchannels, mailFrom }: SenderSettings) {
  return chooseSender(subchannelId === null ? undefined : subchannels?.get(subchannelId), mailFrom);
}

function withInvalid(outcome: MailOutcome, invalid: readonly string[]): MailOutcome {
  const error = outcome.error ?? 'invalid_recipient: a recipient is not an e-mail address';
  return { ...outcome, refused: [...outcome.refused, ...invalid], error };
}

/** The state of a mail after an attempt with an outcome. */
export function stateAfter(
  { random }: Pick<AttemptContext, 'random'>,
  mail: OutgoingMail,
  { accepted, deferred, refused, error }: MailOutcome,
): MailState {
  const attempts = mail.attempts + 1;
  const reached = [...mail.reached, ...accepted];
  // Refused recipients are tried again with the deferred ones: their refusal shows when no other is left.
  const pauseMs = deferred.length > 0 ? mailPauseMs(attempts, random()) : undefined;
  if (pauseMs !== undefined) return { status: 'queued', attempts, reached, error, pauseMs };
  const isSent = deferred.length === 0 && refused.length === 0;
  return { status: isSent ? 'sent' : 'failed', attempts, reached, error };
}

const minute = 60_000;
const hour = 60 * minute;

/** The pauses after the attempts that have failed. */
const pausesMs = [minute, 5 * minute, 30 * minute, 2 * hour, 8 * hour, 24 * hour];
const jitter = 0.2;

/**
 * How long to wait before the next attempt to send a mail; undefined after the last one. `attempts` counts those that were
 * made, and `random` is from 0 to 1.
 *
 * Source: docs/reference/api.md, Outgoing mail.
 */
export function mailPauseMs(attempts: number, random: number): number | undefined {
  const pauseMs = pausesMs[attempts - 1];
  return pauseMs === undefined ? undefined : Math.round(pauseMs * (1 + jitter * (2 * random - 1)));
}
