import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness, type TemplatesHarness } from '../../test/harness.ts';
import { hostileTemplates } from '../../test/hostile-templates.ts';

let harness: TemplatesHarness;

beforeAll(async () => {
  harness = await startHarness({ variables: { RENDER_TIMEOUT_MS: '500' } });
  harness.model.tickets.set(12, { ticket: { id: 12 } });
});
afterAll(() => harness.stop());

const preview = (profileId: number, body: object) =>
  harness.request('POST', '/template/preview', { caller: { profileId }, body: { ticketId: 12, ...body } });

// guarantee: I4
test('previews of hostile templates, one after the other, delay no other, and are counted', async () => {
  const slow = hostileTemplates.find(({ name }) => name === 'loops in loops without output');
  const attack = { message: slow?.template ?? '', templateData: slow?.variables.in };
  const usual = (profileId: number) => preview(profileId, { message: '{{ticket.id}}' });
  // All processes have started when each has rendered something.
  await Promise.all([1, 2, 3].map(usual));
  let stopped = 0;
  const attacks = Array.from({ length: 3 }, async () => {
    const { json } = await preview(8, attack);
    stopped += 1;
    return json.code;
  });
  expect((await usual(9)).json.preview).toBe('<p>12</p>');
  // At most two attacks run at a time, so no other caller has waited for all of them.
  expect(stopped).toBeLessThan(attacks.length);
  for (const code of await Promise.all(attacks)) expect(code).toMatch(/^template_too_(slow|much_memory)$/);
  const metrics = await (await fetch(`http://127.0.0.1:${harness.running.ports.internal}/metrics`)).text();
  const counts = [...metrics.matchAll(/^template_renders_stopped_total\{.*reason="(?:time|memory)".*\} (\d+)$/gm)];
  expect(counts.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(attacks.length);
});
