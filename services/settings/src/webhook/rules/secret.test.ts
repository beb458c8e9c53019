import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import { expect, it } from 'vitest';
import { newWebhookSecret } from './secret.ts';

it('makes secrets of 32 random bytes', () => {
  const secret = newWebhookSecret(systemRuntime);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(newWebhookSecret(systemRuntime)).not.toBe(secret);
});
