import { createLogger } from '@ticketing/runtime/logger.ts';
import { expect, it, onTestFinished } from 'vitest';
import { takesLong } from '../../test/hostile-templates.ts';
import { openRendering } from './open.ts';
import { endlessInput, listCodes, pointer, toInput } from './open-fixture.ts';

function open(timeoutMs: number) {
  const rendering = openRendering(createLogger('test', 'silent'), { timeoutMs });
  onTestFinished(() => rendering.close());
  return rendering;
}

// guarantee: I4
// asvs: 1.3.7
it.each(takesLong)('a hostile template that $name is stopped', async ({ template, variables, outcome }) => {
  const rendering = open(500);
  expect(await rendering.findViolations([{ kind: 'message', text: template, pointer }], 'author')).toEqual([]);
  const codes = await listCodes(rendering.render(toInput(template, variables), 'author'));
  expect('stopped' in outcome && outcome.stopped).toContain(codes.join());
});

// guarantee: I4
it('a template does not wait until hostile ones have ended, of another author or of the same', async () => {
  const rendering = open(2_000);
  let stopped = 0;
  const show = async (caller: string) => (await rendering.render(toInput('{{a}}', { a: 1 }), caller)).message;
  const stop = async (caller: string) => {
    expect(await listCodes(rendering.render(endlessInput(), caller))).toEqual(['template_too_slow']);
    stopped += 1;
  };
  // All processes have started when each has rendered something.
  await Promise.all(['a', 'b', 'c'].map(show));
  const stops = [stop('author'), stop('author')];
  expect(await show('agent')).toBe('<p>1</p>');
  expect(stopped).toBe(0);
  await Promise.all(stops);
  await Promise.all(['a', 'b', 'c'].map(show));
  const again = stop('author');
  expect(await show('author')).toBe('<p>1</p>');
  expect(stopped).toBe(2);
  await again;
});
