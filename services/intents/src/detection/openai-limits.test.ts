import { readConfig } from '@ticketing/runtime/config-reader.ts';
import { expect, test } from 'vitest';
import { readOpenaiLimits } from './openai-limits.ts';

const read = (environment: Record<string, string>) =>
  readConfig(environment, { service: 'intents', services: ['intents'] }, readOpenaiLimits);

test('the limits of the provider openai have defaults within the 10 seconds that a creation waits', () => {
  const limits = read({});
  expect(limits).toEqual({
    timeoutMs: 8_000,
    maxConcurrent: 8,
    maxWaiting: 32,
    pauseMs: 30_000,
    requestsPerMinute: 120,
    tokensPerMinute: 200_000,
  });
});

test('the limits of the provider openai cannot be lower or higher than what works', () => {
  const variables = (values: Record<string, number>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [`TICKETING_INTENTS_OPENAI_${name}`, `${value}`]));
  const lowest = {
    TIMEOUT_MS: 100,
    CONCURRENCY: 1,
    WAITING: 0,
    PAUSE_MS: 100,
    REQUESTS_PER_MINUTE: 1,
    TOKENS_PER_MINUTE: 1000,
  };
  expect(read(variables(lowest))).toMatchObject({
    timeoutMs: 100,
    maxConcurrent: 1,
    maxWaiting: 0,
    tokensPerMinute: 1000,
  });
  for (const [name, value] of Object.entries(lowest)) {
    expect(() => read(variables({ ...lowest, [name]: value - 1 })), name).toThrow(`OPENAI_${name}`);
  }
  expect(read(variables({ TIMEOUT_MS: 120_000 })).timeoutMs).toBe(120_000);
  expect(() => read(variables({ TIMEOUT_MS: 120_001 }))).toThrow('OPENAI_TIMEOUT_MS');
});
