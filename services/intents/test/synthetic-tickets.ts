import { extractFeatures } from '../src/learning/features.ts';
import type { TicketText } from '../src/learning/ticket-text.ts';
import type { Example } from '../src/learning/training-examples.ts';

const topics = {
  billing: ['invoice', 'payment', 'refund', 'charged', 'amount', 'receipt'],
  network: ['router', 'connection', 'wireless', 'signal', 'modem', 'offline'],
  delivery: ['parcel', 'courier', 'address', 'shipped', 'warehouse', 'arrived'],
} as const;
const fillers = 'please today since hello again could would think maybe really after before because still'.split(' ');
const urgent = ['urgent', 'immediately', 'deadline'];
const spam = ['lottery', 'winner', 'casino', 'million', 'click'];

/** The tags of the tickets. */
export const tagIds = { urgent: 7, billing: 8 };

/** Numbers from 0 to 1 that a seed determines (mulberry32). */
export function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A ticket, and the labels that people would give it. */
export interface SyntheticTicket {
  text: TicketText;
  labels: Required<Omit<Example, 'features'>>;
}

/** Tickets of three topics, of which a third are urgent and a fifth are spam. */
export function syntheticTickets(count: number, seed = 1): SyntheticTicket[] {
  const next = numbersFrom(seed);
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(next() * values.length)] as Value;
  const several = (values: readonly string[], many: number) => Array.from({ length: many }, () => pick(values));
  return Array.from({ length: count }, () => {
    const topic = pick(Object.keys(topics) as (keyof typeof topics)[]);
    const isUrgent = next() < 1 / 3;
    const isSpam = next() < 1 / 5;
    const words = [...several(topics[topic], 4), ...several(fillers, 8)];
    if (isUrgent) words.push(...several(urgent, 2));
    if (isSpam) words.push(...several(spam, 3));
    words.sort(() => next() - 0.5);
    const tags = [...(isUrgent ? [tagIds.urgent] : []), ...(topic === 'billing' ? [tagIds.billing] : [])];
    return { text: { subject: pick(topics[topic]), body: words.join(' ') }, labels: { tagIds: tags, topic, isSpam } };
  });
}

/** Examples to learn from. */
export function toExamples(tickets: readonly SyntheticTicket[]): Example[] {
  return tickets.map(({ text, labels }) => ({ features: extractFeatures(text), ...labels }));
}
