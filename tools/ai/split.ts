import { createHash } from 'node:crypto';
import type { TicketText } from '../../services/intents/src/learning/ticket-text.ts';

/** This part of the tickets is learned from. */
const learnedPart = 0.7;

/**
 * Whether a ticket is measured with instead of learned from: by the hash of its subject and body, so that equal tickets
 * are on the same side. `tools/ai/compare.py` does the same.
 */
export function isMeasured({ subject, body }: TicketText, split = 0): boolean {
  const salt = split === 0 ? '' : `${split}\n`;
  const digest = createHash('sha256')
    .update(`${salt}${subject ?? ''}\n${body ?? ''}`)
    .digest();
  return digest.readUInt32BE(0) / 2 ** 32 >= learnedPart;
}
