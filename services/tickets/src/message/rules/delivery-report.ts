import { comparedAddress } from '../../rules/mail-headers.ts';

/** A report of a mail server that a mail was not delivered, or not yet. */
export interface DeliveryReport {
  /** The ids that may be that of the mail, the likeliest first, each with its angle brackets. */
  messageIds: readonly string[];
  recipients: readonly ReportedRecipient[];
}

/** A recipient whom the mail has not reached. */
export interface ReportedRecipient {
  /**
   * The address to which it was sent, and that to which it was forwarded, as far as they are known, in the spelling of
   * `comparedAddress`.
   */
  addresses: readonly string[];
  /** Whether the server has given up. */
  isFinal: boolean;
  /** The enhanced status code (RFC 3463), such as 5.1.1, else the reply code of SMTP, such as 550. */
  code: string | null;
  /** The words of the server, as one line. */
  text: string;
}

/** The reason why a message did not reach a recipient, or was not sent at all. */
export interface FailureReason {
  code: string | null;
  text: string;
  /** Null if it is about all of them. */
  recipient: string | null;
}

/** The last failure of a message. Units: `at` in Unix seconds. */
export interface DeliveryError extends FailureReason {
  at: number;
}

/** A final failure, which its ticket has not been notified of. Its `id` is unique. Units: `at` in Unix seconds. */
export interface DeliveryFailure {
  id: string;
  at: number;
  /** At least one. */
  reasons: readonly FailureReason[];
}

/** A failure as the message shows it: by its first recipient. */
export function toError({ at, reasons: [first] }: DeliveryFailure): DeliveryError {
  return { code: null, text: '', recipient: null, ...first, at };
}

/** The longest text of an error. */
export const maxErrorChars = 500;

/**
 * The recipients of a message that a report names, in the spelling of the message, each with what the report says. A final
 * failure counts before a delay.
 */
export function reportedRecipients(
  { recipients }: DeliveryReport,
  addresses: readonly string[],
): ReadonlyMap<string, ReportedRecipient> {
  const own = new Map(addresses.map((address) => [comparedAddress(address), address]));
  const found = new Map<string, ReportedRecipient>();
  for (const reported of [...recipients].sort((a, b) => Number(b.isFinal) - Number(a.isFinal))) {
    const address = reported.addresses.map((one) => own.get(one)).find((one) => one !== undefined);
    if (address !== undefined && !found.has(address)) found.set(address, reported);
  }
  return found;
}

/** A code as `DeliveryError.code` has it, in the words of a mail server: an enhanced one that says more than its class first. */
export function findCode(...texts: readonly string[]): string | null {
  const enhanced = texts.flatMap((text) => [...text.matchAll(enhancedPattern)].map(([code]) => code));
  const [first] = enhanced;
  const specific = enhanced.find((code) => !code.endsWith('.0.0') && code[0] === first?.[0]);
  return specific ?? first ?? texts.map((text) => replyPattern.exec(text)?.[0]).find((code) => code) ?? null;
}

/** An address of IP is none, and nor is the version of a program. */
const enhancedPattern = /(?<![\d.])[45]\.\d{1,3}\.\d{1,3}(?![\d]|\.\d)/g;
const replyPattern = /(?<![\w.:-])[45]\d\d(?![\w.:])/;
