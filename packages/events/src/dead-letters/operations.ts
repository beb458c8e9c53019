import { setTimeout } from 'node:timers/promises';
import { type HandlerOptions, replayKey } from '../consumer/message-handler.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { DeadLetters } from './dead-letters.ts';

/** Where the operations of a service tell what they do, a line at a time. */
export type Print = (line: string) => void;

const mostListed = 10_000;
const lookEveryMs = 200;
const printEveryMs = 2_000;

/** Lists the events that a group could not handle, and those that wait behind them; answers how many there are. */
export async function printDeadLetters(deadLetters: DeadLetters, print: Print): Promise<number> {
  const parked = await deadLetters.list(mostListed);
  for (const { group, topic, key, headers, reason, deadLetteredAt } of parked) {
    print(`${group}  ${topic}  key ${key}  ${headers.ce_id ?? ''}  ${deadLetteredAt.toISOString()}  ${reason}`);
  }
  return parked.length;
}

/** Lists the documents whose events the bus has refused; answers how many there are. */
export async function printUndeliverable(outboxes: readonly Outbox[], print: Print): Promise<number> {
  let count = 0;
  for (const outbox of outboxes) {
    for (const { id, unsent } of await outbox.undeliverable(mostListed)) {
      print(
        `${outbox.name}  id ${id}  since ${unsent.since.toISOString()}  ${unsent.attempts} attempts  ${unsent.reason}`,
      );
      count += 1;
    }
  }
  return count;
}

/** Handles parked events again, key by key, all or those of one key. Answers how many keys are parked still. */
export async function replayDeadLetters(
  consumer: HandlerOptions,
  key: string | undefined,
  print: Print,
): Promise<number> {
  const parked = (await consumer.deadLetters.list(mostListed)).filter((one) => one.group === consumer.group);
  const keys = new Map(parked.map((one) => [`${one.topic} ${one.key}`, one]));
  let left = 0;
  for (const { topic, key: parkedKey } of keys.values()) {
    if (key !== undefined && key !== parkedKey) continue;
    try {
      const count = await replayKey(consumer, topic, parkedKey, new AbortController().signal);
      print(`${topic}  key ${parkedKey}  ${count} events handled`);
    } catch (error) {
      left += 1;
      print(`${topic}  key ${parkedKey}  still fails: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return left;
}

/** Waits until `count` answers 0, and tells how many are left meanwhile. */
export async function waitForNone(what: string, count: () => Promise<number>, print: Print): Promise<void> {
  let printedAt = Number.NEGATIVE_INFINITY;
  for (let left = await count(); left > 0; left = await count()) {
    if (performance.now() - printedAt > printEveryMs) {
      print(`${left} ${what}`);
      printedAt = performance.now();
    }
    await setTimeout(lookEveryMs);
  }
  print(`0 ${what}`);
}

/** How many events of outboxes are not sent yet. */
export async function unsentCount(outboxes: readonly Outbox[]): Promise<number> {
  const states = await Promise.all(outboxes.map((outbox) => outbox.state()));
  return states.reduce((sum, { events }) => sum + events, 0);
}
