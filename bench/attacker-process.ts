import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A process that carries out orders, one at a time. */
export interface AttackerProcess<Order extends object> {
  /** Returns what the process saw, or that it has ended; the next order then starts another one. */
  send(order: Order): Promise<string>;
  stop(): void;
}

/** Runs a module in a separate process, which responds to each order with a text. */
export function attackerProcess<Order extends object>(module: string): AttackerProcess<Order> {
  let child: ChildProcess | undefined;
  return {
    async send(order) {
      child ??= fork(module);
      const waiting = new AbortController();
      const { signal } = waiting;
      const ended = once(child, 'exit', { signal }).then(([code, killedBy]) => {
        child = undefined;
        return `failed: the attacker ended (${killedBy ?? code})`;
      });
      const seen = once(child, 'message', { signal }).then(([text]) => String(text));
      child.send(order);
      try {
        return await Promise.race([seen, ended]);
      } finally {
        waiting.abort();
        await Promise.allSettled([seen, ended]);
      }
    },
    stop: () => child?.kill(),
  };
}
