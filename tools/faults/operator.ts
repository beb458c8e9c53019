import { setTimeout as sleep } from 'node:timers/promises';
import type { Print } from '@ticketing/events/operations.ts';
import { type JsonObject, objectsIn } from '../import/json.ts';
import type { Caller } from './caller.ts';
import type { Endpoint } from './endpoints.ts';

/** The work of a person who looks after webhook endpoints. */
export interface Operator {
  /** Redelivers the oldest of the failed deliveries, so that they do not wait for the next attempt of the schedule. */
  redeliverSome(endpoint: Endpoint): Promise<void>;
  /** Redelivers failed deliveries until all are made. Errors: throws if that takes more than three minutes. */
  deliverRest(endpoints: readonly Endpoint[], print: Print): Promise<void>;
  /** How many deliveries were sent again. */
  redelivered(): number;
}

const pageSize = 500;
const pollMs = 500;
const printEveryMs = 5_000;
const deadlineMs = 180_000;
/** A delivery that is due within this time, or was due less than this time ago, is left to the dispatcher. */
const soonMs = 2_000;

/** Makes an operator. */
export function openOperator(caller: Caller): Operator {
  const redelivered = new Set<string>();

  async function redeliver({ id }: Endpoint, deliveries: readonly JsonObject[]): Promise<void> {
    const isDueNow = ({ nextAttemptAt }: JsonObject) =>
      Math.abs(Date.parse(String(nextAttemptAt)) - Date.now()) < soonMs;
    for (const delivery of deliveries.filter((one) => !isDueNow(one))) {
      await caller.request('POST', `/webhook/${id}/delivery/${delivery.id}/redeliver`);
      redelivered.add(String(delivery.id));
    }
  }

  async function readDeliveries({ id }: Endpoint, status: string): Promise<JsonObject[]> {
    return objectsIn(
      await caller.request('GET', `/webhook/${id}/delivery?status=${status}&limit=${pageSize}`),
      'deliveries',
    );
  }

  return {
    redelivered: () => redelivered.size,
    async redeliverSome(endpoint) {
      await redeliver(endpoint, await readDeliveries(endpoint, 'retrying'));
    },
    async deliverRest(endpoints, print) {
      const deadline = Date.now() + deadlineMs;
      for (let printedAt = 0; ; ) {
        let left = 0;
        for (const endpoint of endpoints) {
          const retrying = await readDeliveries(endpoint, 'retrying');
          await redeliver(endpoint, retrying);
          left += retrying.length + (await readDeliveries(endpoint, 'scheduled')).length;
        }
        if (left === 0) return;
        if (Date.now() > deadline) throw new Error(`${left} deliveries are not made after three minutes.`);
        if (Date.now() > printedAt + printEveryMs) {
          print(`${left} deliveries are not made yet`);
          printedAt = Date.now();
        }
        await sleep(pollMs);
      }
    },
  };
}
