import type { Logger } from '@ticketing/runtime/logger.ts';
import { crashed, runWithinLimits } from '@ticketing/sandbox/repeat-crashed.ts';
import { openSandbox, type SandboxLimits } from '@ticketing/sandbox/sandbox.ts';
import { mailLimits, type ParsedMail, type UnreadableMail } from './mail.ts';
import type { MailFunctions } from './mail.worker.ts';
import type { ReadOptions } from './mail-content.ts';
import { parseMail } from './parse.ts';

/** Reads mails: small ones at once, all others in a separate process (docs/decisions/0037). */
export interface MailReader {
  /**
   * Reads a mail. `sender` names its sender: waiting mails are read in turn, and each sender has a share.
   *
   * Errors: sandbox_busy, if too many large mails wait; sandbox_crashed, if two processes ended without a limit, or the
   * reading failed.
   */
  read(sender: string, raw: Uint8Array, options?: ReadOptions): Promise<ParsedMail | UnreadableMail>;
  close(): Promise<void>;
}

/** Mails up to these sizes take about 20 ms at worst. Measured: docs/decisions/0037. */
const maxBytesAtOnce = 8 * 1024;
const maxLinesAtOnce = 250;

const limits: SandboxLimits = {
  // The worst mail of 40 MiB that we know takes 15 s.
  timeoutMs: 20_000,
  maxHeapMb: 512,
  maxOutputBytes: mailLimits.filesBytes + 2 * mailLimits.bodyBytes,
  maxWorkers: 2,
  longRunBytes: 1024 * 1024,
  // As many as the receiver has connections, in total and per address, so that small mails are not refused.
  maxQueued: 200,
  maxQueuedBytes: 80 * 1024 * 1024,
  maxQueuedPerCaller: 50,
  maxQueuedBytesPerCaller: 40 * 1024 * 1024,
  idleMs: 30_000,
};

/** Opens the reading of mails. Tests replace the limits, and the sandbox. */
export function openMailReader(
  log: Logger,
  changedLimits: Partial<SandboxLimits> = {},
  open: typeof openSandbox<MailFunctions> = openSandbox,
): MailReader {
  const sandbox = open(new URL('./mail.worker.ts', import.meta.url), { ...limits, ...changedLimits });
  return {
    async read(sender, raw, options) {
      if (isSmall(raw)) return parseMail(raw, options);
      const parse = () => sandbox.run(sender, 'parseMail', raw, options);
      const warning = 'a mail was not read, because its worker exceeded a limit, or failed';
      return runWithinLimits(parse, log, warning, (error) => {
        // A fault of ours, not of the mail: its sender keeps it, and a later version may read it.
        if (error.reason === 'failed') throw crashed(error);
        return unreadable;
      });
    },
    close: () => sandbox.close(),
  };
}

const unreadable: UnreadableMail = { problem: 'The mail takes too much work to read.', isTooLarge: false };

function isSmall(raw: Uint8Array): boolean {
  if (raw.length > maxBytesAtOnce) return false;
  let at = -1;
  for (let lines = 0; lines <= maxLinesAtOnce; lines++) {
    at = raw.indexOf(0x0a, at + 1);
    if (at === -1) return true;
  }
  return false;
}
