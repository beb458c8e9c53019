import type { WebhookState } from '../rules/endpoint.ts';
import { afterFailure, attemptsAtOnce, healthy, type WebhookHealth } from '../rules/health.ts';

/** The health of an endpoint as its worker knows it: ahead of the stored health, and of the cached endpoint. */
export interface EndpointHealth {
  /** Returns how many attempts may be made at once now. Units: Unix ms. */
  attemptsAtOnce(webhook: WebhookState, now: number): number;
  /** Notes the result of an attempt. Units: Unix ms. */
  afterAttempt(webhook: WebhookState, isDelivered: boolean, now: number): ObservedHealth;
  /** Makes no attempts for a while, because this process cannot make one. */
  pauseFor(ms: number): void;
  /** Makes no attempts while work that disables the endpoint runs. */
  whileDisabling(webhook: WebhookState, work: () => Promise<void>): Promise<void>;
}

/** The health after an attempt, which belongs to an epoch of the endpoint. */
export interface ObservedHealth {
  epoch: number;
  health: WebhookHealth;
  /** Whether the attempt has changed it. */
  hasChanged: boolean;
}

/** Begins with the health that is stored. */
export function endpointHealth(): EndpointHealth {
  let known: Pick<WebhookState, 'epoch' | 'health'> | undefined;
  let brokenUntil = 0;
  /** The epoch in which the endpoint is being disabled, and how many attempts are disabling it. */
  let endingEpoch = 0;
  let endings = 0;
  /** The epoch in which it was disabled. Enabling it again begins another epoch. */
  let endedEpoch = 0;

  /** Returns the health that this process has observed, unless a request has changed it meanwhile. */
  function currentHealth({ epoch, health }: WebhookState): Pick<WebhookState, 'epoch' | 'health'> {
    if (!known || known.epoch < epoch) known = { epoch, health };
    return known;
  }

  return {
    attemptsAtOnce(webhook, now) {
      const isEnding = endings > 0 && webhook.epoch <= endingEpoch;
      const hasEnded = webhook.epoch <= endedEpoch;
      return isEnding || hasEnded || performance.now() < brokenUntil
        ? 0
        : attemptsAtOnce(currentHealth(webhook).health, now);
    },
    afterAttempt(webhook, isDelivered, now) {
      const { epoch, health: before } = currentHealth(webhook);
      const health = isDelivered ? healthy : afterFailure(before, now);
      known = { epoch, health };
      return { epoch, health, hasChanged: before.failuresInRow !== health.failuresInRow };
    },
    pauseFor(ms) {
      brokenUntil = performance.now() + ms;
    },
    async whileDisabling({ epoch }, work) {
      endingEpoch = epoch;
      endings += 1;
      try {
        await work();
        endedEpoch = epoch;
      } finally {
        endings -= 1;
      }
    },
  };
}
