import { createHook } from 'node:async_hooks';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type HostileOutcome, hostileTemplates, takesLong } from '../../test/hostile-templates.ts';
import { openRendering, type Rendering } from './open.ts';
import { endlessInput, listCodes, pointer, toInput } from './open-fixture.ts';
import { withTags } from './rules/render-template.ts';

const log = createLogger('test', 'silent');

/** Has enough time for every template that ends, however slow the machine is. */
let rendering: Rendering;
beforeAll(() => {
  rendering = openRendering(log, { timeoutMs: 60_000 });
});
afterAll(() => rendering.close());

const summary = (outcome: HostileOutcome) =>
  'rendered' in outcome ? 'harmless' : Object.entries(outcome).flat(2).join(': ');

describe('the processes', () => {
  it('start with the first template, and not before', async () => {
    let processes = 0;
    const hook = createHook({
      init(_id, type) {
        if (type === 'PROCESSWRAP') processes += 1;
      },
    }).enable();
    const unused = openRendering(log, { timeoutMs: 500 });
    expect(processes).toBe(0);
    expect((await unused.render(toInput('{{a}}', { a: 1 }), 'agent')).message).toBe('<p>1</p>');
    await expect.poll(() => processes).toBe(3);
    hook.disable();
    await unused.close();
  });
});

describe('a hostile template', () => {
  it.each(
    hostileTemplates
      .filter((one) => !takesLong.includes(one))
      .map((one) => [one.name, summary(one.outcome), one] as const),
  )(
    // guarantee: I4
    // asvs: 1.3.7
    'that %s is %s',
    async (_name, _summary, { template, variables, outcome }) => {
      const input = toInput(template, variables);
      const saved = await rendering.findViolations([{ kind: 'message', text: template, pointer }], 'author');
      const codes = saved.map(({ code }) => code);
      if ('refused' in outcome) {
        expect(codes[0]).toBe(outcome.refused);
        expect(await listCodes(rendering.render(input, 'author'))).toEqual(codes);
        return;
      }
      expect(codes).toEqual([]);
      const rendered = rendering.render(input, 'author');
      if ('stopped' in outcome) expect(outcome.stopped).toContain((await listCodes(rendered)).join());
      else expect((await rendered).message).toBe(withTags(outcome.rendered));
    },
  );
});

describe('a rendered template', () => {
  const render = async (template: string, variables: object) =>
    (await rendering.render(toInput(template, variables), 'agent')).message;

  // guarantee: I4
  it('may be a megabyte long, and no longer', async () => {
    const template = '<p>{{#each list}}{{this}}{{/each}}';
    const ofBytes = (bytes: number) => ({ list: ['x'.repeat(bytes - 5), 'ä'] });
    expect(await render(template, ofBytes(1024 * 1024))).toHaveLength(1024 * 1024 + 3);
    expect(await listCodes(render(template, ofBytes(1024 * 1024 + 1)))).toEqual(['template_output_too_large']);
  });

  // asvs: 1.1.2
  it('is escaped where values are inserted, and sanitised', async () => {
    const template = '<p>Hello {{customer.firstname}},</p>{{{in.html}}}<p>{{agent.name}}</p>';
    const variables = {
      customer: { firstname: '<b>Ada</b> & Co' },
      in: { html: '<i onclick="x">sent</i><script>x</script>' },
    };
    expect(await render(template, variables)).toBe('<p>Hello &lt;b&gt;Ada&lt;/b&gt; &amp; Co,</p><i>sent</i><p></p>');
  });

  it('of the same text with other values is another one', async () => {
    expect(await render('<p>{{a}}</p>', { a: 1 })).toBe('<p>1</p>');
    expect(await render('<p>{{a}}</p>', { a: 2 })).toBe('<p>2</p>');
    expect(await render('<p>{{a}}</p>', {})).toBe('<p></p>');
  });

  it('is HTML, also if it has no tag: then it is a paragraph with its lines', async () => {
    expect(await render('Dear {{a}},\r\n1 < 2\n\nwrite <b>', { a: "O'Neil & Co" })).toBe(
      '<p>Dear O&#x27;Neil &amp; Co,<br />1 < 2<br /><br />write &lt;b></p>',
    );
    expect(await render('{{a}}<br>\n', { a: '&' })).toBe('&amp;<br />\n');
    expect(await render('\n{{a}}\n', { a: 1 })).toBe('<p>1</p>');
    expect(await render(' {{a}}\n', {})).toBe('');
  });

  it('is stopped when its time is over', async () => {
    const stoppedReasons: string[] = [];
    const impatient = openRendering(log, { timeoutMs: 100, onStopped: (reason) => stoppedReasons.push(reason) });
    onTestFinished(() => impatient.close());
    await expect(impatient.render(endlessInput(), 'agent')).rejects.toMatchObject({
      reason: 'template_too_slow',
      violations: [{ detail: 'The template takes longer than 100 ms.' }],
    });
    expect(stoppedReasons).toEqual(['time']);
  });

  // guarantee: I4
  it('does not wait for those of another author that do not end', async () => {
    const other = openRendering(log, { timeoutMs: 60_000 });
    const ended = [1, 2].map(() =>
      expect(other.render(endlessInput(), 'author')).rejects.toMatchObject({ reason: 'sandbox_closed' }),
    );
    expect((await other.render(toInput('{{a}}', { a: 1 }), 'agent')).message).toBe('<p>1</p>');
    await other.close();
    await Promise.all(ended);
  });
});

describe('problems', () => {
  it('say where they are, all at once, for every template of a request', async () => {
    const found = await rendering.findViolations(
      [
        { kind: 'message', pointer: '#/message', text: 'Hello\n  {{exec "ls"}} {{upper}}' },
        { kind: 'subject', pointer: '#/subject', text: 'a\n{{#if x}}' },
        { kind: 'wrapper', pointer: '#/template', text: 'ab' },
      ],
      'author',
    );
    expect(found).toEqual([
      { pointer: '#/message', code: 'unknown_helper', detail: 'Line 2, column 3: There is no helper exec.' },
      {
        pointer: '#/message',
        code: 'wrong_argument_count',
        detail: 'Line 2, column 17: upper takes 1 argument, not 0.',
      },
      { pointer: '#/subject', code: 'template_syntax', detail: 'Line 2, column 10: Not expected here: EOF.' },
      {
        pointer: '#/template',
        code: 'message_placeholder',
        detail: 'Line 1, column 1: %MESSAGE% must be in the text.',
      },
    ]);
  });
});
