import { setTimeout } from 'node:timers/promises';
import type { HandlerOptions } from './consumer/event-handler.ts';
import { replayKey } from './consumer/replay-key.ts';
import type { DeadLetters } from './dead-letters/dead-letters.ts';
import type { Outbox } from './outbox/outbox.ts';

/** Prints one line of the output of an operator's command. */
export type Print = (line: string) => void;

const maxListed = 10_000;
const pollMs = 200;
const printEveryMs = 2_000;

/** Prints the dead letters of a service. Returns how many there are. */
export async function printDeadLetters(deadLetters: DeadLetters, print: Print): Promise<number> {
  const found = await deadLetters.list(maxListed);
  for (const { group, topic, key, headers, reason, deadLetteredAt } of found) {
    print(`${group}  ${topic}  key ${key}  ${headers.ce_id ?? ''}  ${deadLetteredAt.toISOString()}  ${reason}`);
  }
  return found.length;
}

/** Prints the documents whose events the bus refuses. Returns how many there are. */
export async function printUndeliverable(outboxes: readonly Outbox[], print: Print): Promise<number> {
  let count = 0;
  for (const outbox of outboxes) {
    for (const { id, unsent } of await outbox.undeliverable(maxListed)) {
      print(
        `${outbox.name}  id ${id}  since ${unsent.since.toISOString()}  ${unsent.attempts} attempts  ${unsent.reason}`,
      );
      count += 1;
    }
  }
  return count;
}

/** Handles dead letters again, those of all keys or of one key. Returns how many keys are still blocked. */
export async function replayDeadLetters(
  consumer: HandlerOptions,
  key: string | undefined,
  print: Print,
): Promise<number> {
  const found = (await consumer.deadLetters.list(maxListed)).filter(({ group }) => group === consumer.group);
  const blocked = new Map(found.map((one) => [`${one.topic} ${one.key}`, one]));
  let stillBlocked = 0;
  for (const { topic, key: blockedKey } of blocked.values()) {
    if (key !== undefined && key !== blockedKey) continue;
    try {
      const count = await replayKey(consumer, topic, blockedKey, new AbortController().signal);
      print(`${consumer.group}  ${topic}  key ${blockedKey}  ${count} events handled`);
    } catch (error) {
      stillBlocked += 1;
      const reason = error instanceof Error ? error.message : String(error);
      print(`${consumer.group}  ${topic}  key ${blockedKey}  still fails: ${reason}`);
    }
  }
  return stillBlocked;
}

/** Waits until `count` returns 0, and prints each count meanwhile. */
export async function waitForNone(what: string, count: () => Promise<number>, print: Print): Promise<void> {
  let printedAt = Number.NEGATIVE_INFINITY;
  for (let left = await count(); left > 0; left = await count()) {
    if (performance.now() - printedAt > printEveryMs) {
      print(`${left} ${what}`);
      printedAt = performance.now();
    }
    await setTimeout(pollMs);
  }
  print(`0 ${what}`);
}

/** Returns how many events are still in outboxes, not yet sent. */
export async function unsentCount(outboxes: readonly Outbox[]): Promise<number> {
  const states = await Promise.all(outboxes.map((outbox) => outbox.state()));
  return states.reduce((sum, { events }) => sum + events, 0);
}
