import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toBatches } from './batches.ts';

test('batches hold every message once, in order, within their limit unless a single message is larger', () => {
  const message = fc.record({ key: fc.string({ maxLength: 5 }), value: fc.uint8Array({ maxLength: 4000 }) });
  fc.assert(
    fc.property(
      fc.array(
        message.map((one) => ({ ...one, headers: {} })),
        { maxLength: 60 },
      ),
      fc.integer({ min: 1, max: 20 }),
      (messages, most) => {
        const batches = toBatches(messages, { bytes: 8000, messages: most });
        expect(batches.flat()).toEqual(messages);
        for (const batch of batches) {
          expect(batch.length).toBeGreaterThan(0);
          expect(batch.length).toBeLessThanOrEqual(most);
          const bytes = batch.reduce((sum, { key, value }) => sum + key.length + value.length + 1000, 0);
          if (batch.length > 1) expect(bytes).toBeLessThanOrEqual(8000);
        }
      },
    ),
  );
});
