import type { Logger } from '@ticketing/runtime/logger.ts';
import { runWithinLimits } from '@ticketing/sandbox/repeat-crashed.ts';
import { openSandbox, type SandboxLimits } from '@ticketing/sandbox/sandbox.ts';
import type { MailFunctions } from './mail.worker.ts';
import { mailLimits } from './mail-limits.ts';
import { parseMail } from './parse-mail.ts';
import type { ParsedMail, UnreadableMail } from './parsed-mail.ts';

/** Reads mails: small ones at once, all others in a process of its own (docs/decisions/0037). */
export interface MailReader {
  /**
   * Reads a mail. `sender` is whoever has sent it: the mails that wait are read in turn, and each sender has a share.
   *
   * Errors: sandbox_busy, if too many large mails wait; sandbox_crashed, if two processes ended without a limit.
   */
  read(sender: string, raw: Uint8Array): Promise<ParsedMail | UnreadableMail>;
  close(): Promise<void>;
}

/** Mails up to these sizes take at most 20 ms. Measured: docs/decisions/0037. */
const maxBytesAtOnce = 64 * 1024;
const maxLinesAtOnce = 2000;
/** Of the headers of the mail: lists of addresses are dear to read, also those in encoded words. */
const maxHeaderBytesAtOnce = 16 * 1024;
const maxSeparatorsAtOnce = 1000;

const limits: SandboxLimits = {
  // The worst mail of 40 MiB that we know takes 15 s.
  timeoutMs: 20_000,
  maxHeapMb: 512,
  maxOutputBytes: mailLimits.filesBytes + 2 * mailLimits.bodyBytes,
  maxWorkers: 2,
  longRunBytes: 1024 * 1024,
  maxQueued: 64,
  maxQueuedBytes: 80 * 1024 * 1024,
  maxQueuedPerCaller: 32,
  maxQueuedBytesPerCaller: 40 * 1024 * 1024,
  idleMs: 30_000,
};

/** Opens the reading of mails. Tests replace the limits, and the sandbox. */
export function openMailReader(
  log: Logger,
  changedLimits: Partial<SandboxLimits> = {},
  open: typeof openSandbox<MailFunctions> = openSandbox,
): MailReader {
  const sandbox = open(new URL('./mail.worker.ts', import.meta.url), {
    ...limits,
    ...changedLimits,
  });
  return {
    async read(sender, raw) {
      if (isSmall(raw)) return parseMail(raw);
      const parse = () => sandbox.run(sender, 'parseMail', raw);
      const warning = 'a mail was not read, because its worker exceeded a limit';
      return runWithinLimits(parse, log, warning, () => unreadable);
    },
    close: () => sandbox.close(),
  };
}

const unreadable: UnreadableMail = { problem: 'The mail takes too much work to read.', isTooLarge: false };

/** A message within a mail is read again, so that its cost is higher. */
function isSmall(raw: Uint8Array): boolean {
  if (raw.length > maxBytesAtOnce) return false;
  const mail = Buffer.from(raw.buffer, raw.byteOffset, raw.length);
  const text = mail.toString('latin1');
  return !text.toLowerCase().includes('message/rfc822') && hasFewLines(mail) && hasSmallHeaders(text);
}

function hasSmallHeaders(text: string): boolean {
  const ends = ['\n\n', '\n\r\n'].map((end) => text.indexOf(end)).filter((at) => at !== -1);
  // The line break before the empty line is part of what separates the headers from the body.
  const headers = text.slice(0, Math.min(text.length, ...ends)).replace(/\r$/, '');
  return headers.length <= maxHeaderBytesAtOnce && (headers.match(/[,;:]/g) ?? []).length <= maxSeparatorsAtOnce;
}

function hasFewLines(mail: Buffer): boolean {
  let at = -1;
  for (let lines = 0; lines <= maxLinesAtOnce; lines++) {
    at = mail.indexOf(0x0a, at + 1);
    if (at === -1) return true;
  }
  return false;
}
