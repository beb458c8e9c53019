import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';

const replies: Readonly<Record<string, number>> = {
  storage_full: 452,
  mail_too_large: 552,
  invalid_mail: 554,
  mail_loop: 554,
  unknown_subchannel: 550,
  subchannel_disabled: 550,
};

/**
 * The SMTP reply for an error. A sender tries again after a code that begins with 4, and gives up after one that begins
 * with 5, so that only what is wrong with the mail itself is a 5.
 */
export function smtpReply(error: unknown, log: Logger): Error & { responseCode: number } {
  if (error instanceof Error && 'responseCode' in error && typeof error.responseCode === 'number') {
    return Object.assign(error, { responseCode: error.responseCode });
  }
  if (error instanceof DomainError) {
    const responseCode = replies[error.reason] ?? 451;
    log.info({ reason: error.reason, responseCode }, 'a mail was not taken in');
    return Object.assign(new Error(error.message), { responseCode });
  }
  if (hasClosed(error)) return Object.assign(error, { responseCode: 451 });
  log.error({ err: error }, 'a mail could not be taken in');
  return Object.assign(new Error('The mail cannot be taken in at the moment.'), { responseCode: 451 });
}

/** Whether the client has closed the connection before the end of the mail: it sends it again. */
function hasClosed(error: unknown): error is Error {
  const codes = ['ECONNECTION', 'ERR_STREAM_PREMATURE_CLOSE'];
  return error instanceof Error && 'code' in error && codes.some((code) => code === error.code);
}
