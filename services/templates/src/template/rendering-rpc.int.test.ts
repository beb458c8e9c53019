import { Code, ConnectError } from '@connectrpc/connect';
import { ProblemSchema } from '@ticketing/contracts/ticketing/api/v1/problem_pb.ts';
import { RenderingService } from '@ticketing/contracts/ticketing/templates/v1/rendering_service_pb.ts';
import { ContentType } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { golden } from '@ticketing/testkit/golden.ts';
import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startHarness, type TemplatesHarness } from '../../test/harness.ts';

let harness: TemplatesHarness;

beforeAll(async () => {
  harness = await startHarness();
});
afterEach(() => harness.empty());
afterAll(() => harness.stop());

const values = {
  ticket: { id: 12, subject: 'Meter & bill <b>', fromName: 'Ada Lovelace' },
  customer: { firstname: 'Ada', company: 'A & B "<GmbH>"' },
  contract: { id: 'C-1', endDate: '2026-12-31' },
  agent: { id: 7, firstName: 'Grace' },
  intent: null,
  in: {},
};
const preview = (body: object, caller = {}) => harness.request('POST', '/template/preview', { caller, body });
const create = (body: object) => harness.create('/template', body);
const wrap = (template: string, name = 'Usual') => harness.create('/emailTemplate', { name, template });
const utf8 = (value: object) => new TextEncoder().encode(JSON.stringify(value));

describe('a preview', () => {
  it('shows a text with the values of a ticket, in an e-mail template', async () => {
    harness.model.tickets.set(12, values);
    const wrapper = await wrap('<p>Hello {{extractFirstName ticket.fromName}},</p>%MESSAGE%<p>{{agent.firstName}}</p>');
    const response = await preview({
      message: '<p>your contract {{contract.id}} ends on {{formatDateDE contract.endDate}}: {{in.reason}}</p>',
      ticketId: 12,
      emailTemplateId: wrapper.id,
      templateData: { reason: '<i>moved</i>' },
    });
    expect(response.status).toBe(200);
    await golden('preview', response.json);
    const alone = await preview({ message: '{{ticket.subject}}', ticketId: 12 });
    expect(alone.json).toEqual({ success: true, preview: '<p>Meter &amp; bill &lt;b&gt;</p>', variables: values });
    expect((await preview({ message: '{{contract.id}}', ticketId: 12, contractId: 'C-2' })).json.preview).toBe(
      '<p>C-2</p>',
    );
  });

  it('without a ticket has no values but those of the contract and the agent', async () => {
    const { json } = await preview({ message: '{{contract.id}} {{agent.firstName}}{{ticket.id}}', contractId: 'C-2' });
    const variables = {
      ticket: null,
      customer: null,
      contract: { id: 'C-2' },
      agent: { firstName: 'Ada' },
      intent: null,
    };
    expect(json).toEqual({ success: true, preview: '<p>C-2 Ada</p>', variables: { ...variables, in: {} } });
    expect((await preview({ message: '' })).json.preview).toBe('');
  });

  it.each([
    ['#/message required', {}],
    ['#/message too_long', { message: 'x'.repeat(1024 * 1024 + 1) }],
    ['#/message unknown_helper', { message: '{{exec 1}}' }],
    ['#/message template_syntax', { message: 'a{' }],
    ['#/emailTemplateId unknown_template', { message: 'a', emailTemplateId: 99 }],
    ['#/contractId too_long', { message: 'a', contractId: 'x'.repeat(51) }],
    ['#/ticketId out_of_range', { message: 'a', ticketId: 0 }],
    ['#/description unknown_field', { message: 'a', description: 'b' }],
    ['#/message template_failed', { message: '{{in}}', templateData: { toString: 1, valueOf: 1 } }],
  ])('is refused with %s', async (violation, body) => {
    const response = await preview(body);
    expect([response.status, violationsOf(response)]).toEqual([400, [violation]]);
  });

  it('of an unknown ticket is 404, and without the tickets service 503', async () => {
    const missing = await preview({ message: 'a', ticketId: 12 });
    expect([missing.status, missing.json.code, missing.json.title]).toEqual([
      404,
      'ticket_not_found',
      'Ticket not found',
    ]);
    harness.model.isUnavailable = true;
    const unavailable = await preview({ message: 'a', ticketId: 12 });
    expect([unavailable.status, unavailable.json.code]).toEqual([503, 'dependency_unavailable']);
  });

  it('may use the longest texts; one that is stopped is counted', async () => {
    const body = 'ä<"'.repeat(512 * 1024);
    harness.model.tickets.set(12, { ...values, ticket: { id: 12, body, bodyPlain: body } });
    const { json } = await preview({ message: '{{ticket.id}}', ticketId: 12 });
    expect(json.preview).toBe('<p>12</p>');
    expect(json.variables.ticket.body).toBe(body);
    // The rendered text becomes a paragraph.
    const text = '"'.repeat(1024 * 1024 - '<p></p>'.length);
    const longest = { message: text, templateData: { text: text.slice(0, (1024 * 1024 - 16) / 2) } };
    expect((await preview(longest)).json.preview).toBe(`<p>${text}</p>`);
    const large = await preview({ message: '{{ticket.body}}', ticketId: 12 });
    expect(large.json.code).toMatch(/^template_(output_too_large|too_much_memory)$/);
    const metrics = await (await fetch(`http://127.0.0.1:${harness.running.ports.internal}/metrics`)).text();
    expect(metrics).toMatch(/^template_renders_stopped_total\{.*reason="(output|memory)".*\} 1$/m);
  });
});

describe('RenderTemplate', () => {
  const render = async (templateId: number, withWrapper: boolean, variables: object = values) => {
    const client = await harness.openClient(RenderingService);
    const { message, subject, attachments } = await client.renderTemplate({
      templateId,
      withWrapper,
      variables: utf8(variables),
    });
    return { message, subject, attachments };
  };

  it('renders a template alone, or with its e-mail template, else the generic one', async () => {
    const [own, generic] = [await wrap('<p>own</p>%MESSAGE%', 'Own'), await wrap('<p>generic</p>%MESSAGE%', 'Generic')];
    const first = await create({ message: '<p>{{customer.company}}</p>', emailTemplateId: own.id });
    const second = await create({ message: '<p>%MESSAGE%</p>' });
    const company = '<p>A &amp; B &quot;&lt;GmbH&gt;&quot;</p>';
    const shown = async (id: number, withWrapper: boolean) => (await render(id, withWrapper)).message;
    expect((await shown(first.id, false)).replaceAll('&quot;', '"')).toBe(company.replaceAll('&quot;', '"'));
    expect(await shown(first.id, true)).toMatch(/^<p>own<\/p><p>A &amp; B/);
    expect(await shown(second.id, true)).toBe('<p>%MESSAGE%</p>');
    harness.settings.genericTemplateId = generic.id;
    expect(await shown(first.id, true)).toMatch(/^<p>own<\/p>/);
    expect(await shown(second.id, true)).toBe('<p>generic</p><p>%MESSAGE%</p>');
    expect(await shown(second.id, false)).toBe('<p>%MESSAGE%</p>');
    await harness.write('DELETE', `/emailTemplate/${own.id}`);
    expect(await shown(first.id, true)).toMatch(/^<p>generic<\/p>/);
  });

  // guarantee: I6
  it('renders the subject as plain text in one line', async () => {
    const renderSubject = async (subject: string | null, variables?: object) =>
      (await render((await create({ message: 'a', subject })).id, false, variables)).subject;
    expect(await renderSubject(null)).toBeUndefined();
    expect(await renderSubject('Re: {{customer.company}} {{{ticket.subject}}} &amp;')).toBe(
      'Re: A & B "<GmbH>" Meter & bill <b> &amp;',
    );
    const lines = { in: { text: ' a\r\n b\u2028c\0d\u0085 ' } };
    expect(await renderSubject('{{in.text}}\te', lines)).toBe('a b c d e');
    expect(await renderSubject('{{in.text}}', { in: { text: ' \n ' } })).toBeUndefined();
    const pairs = '\u{1f600}'.repeat(600);
    expect(await renderSubject('{{in.text}}', { in: { text: pairs } })).toBe('\u{1f600}'.repeat(499));
    expect(await renderSubject('a{{in.text}}', { in: { text: pairs } })).toBe(`a${'\u{1f600}'.repeat(498)}`);
  });

  it.each([
    ['unknown_template', 99999, values],
    ['template_failed', undefined, { in: { toString: 1, valueOf: 1 } }],
    ['template_output_too_large', undefined, { in: 'x'.repeat(1024 * 1024 + 1) }],
  ])('is refused with %s', async (code, templateId, variables) => {
    const { id } = await create({ message: '{{in}}' });
    const error = ConnectError.from(await render(templateId ?? id, false, variables).catch((caught) => caught));
    expect(error.code).toBe(Code.InvalidArgument);
    expect(error.findDetails(ProblemSchema)[0]?.errors).toMatchObject([{ pointer: '#/templateId', code }]);
  });
});

describe('WrapMessage', () => {
  const wrapMessage = async (ids: number[], message: string, type: ContentType = ContentType.TEXT) => {
    const client = await harness.openClient(RenderingService);
    const request = { emailTemplateIds: ids, content: { message, type }, variables: utf8(values) };
    return (await client.wrapMessage(request)).message;
  };

  it('renders the first e-mail template that exists around a message, which is no template', async () => {
    const { id } = await wrap('<p>Dear {{customer.firstname}},</p>%MESSAGE%<p>{{agent.firstName}}</p>');
    expect(await wrapMessage([99999, id], 'A & B <b>\r\n{{agent.id}}\n%MESSAGE%')).toBe(
      '<p>Dear Ada,</p><p>A &amp; B &lt;b&gt;<br />{{agent.id}}<br />%MESSAGE%</p><p>Grace</p>',
    );
    expect(await wrapMessage([id], '<b>{{agent.id}}<script>x</script>', ContentType.HTML)).toBe(
      '<p>Dear Ada,</p><b>{{agent.id}}</b><p>Grace</p>',
    );
    expect(await wrapMessage([99999], 'x')).toBeUndefined();
  });

  it('is refused with template_output_too_large, and with a message of more than a mebibyte', async () => {
    const { id } = await wrap('<p></p>%MESSAGE%');
    const error = await wrapMessage([id], 'x'.repeat(1024 * 1024)).catch(ConnectError.from);
    expect(error).toBeInstanceOf(ConnectError);
    expect((error as ConnectError).findDetails(ProblemSchema)[0]?.errors).toMatchObject([
      { pointer: '#/content', code: 'template_output_too_large' },
    ]);
    const text = 'x'.repeat(1024 * 1024 - '<p></p><p></p>'.length);
    expect(await wrapMessage([id], text)).toBe(`<p></p><p>${text}</p>`);
    await expect(wrapMessage([id], 'x'.repeat(1024 * 1024 + 1))).rejects.toThrow('is longer than 1048576 bytes');
  });
});

it('FindWrapper returns the text of the first e-mail template that exists', async () => {
  const client = await harness.openClient(RenderingService);
  const [first, second] = [await wrap('1 %MESSAGE%', 'First'), await wrap('2 %MESSAGE%', 'Second')];
  const find = async (...emailTemplateIds: number[]) => (await client.findWrapper({ emailTemplateIds })).template;
  expect(await find(second.id, first.id)).toBe('2 %MESSAGE%');
  expect(await find(99999, first.id)).toBe('1 %MESSAGE%');
  expect(await find(99999)).toBeUndefined();
  await harness.write('DELETE', `/emailTemplate/${second.id}`);
  expect(await find(second.id, first.id)).toBe('1 %MESSAGE%');
  await expect(client.findWrapper({ emailTemplateIds: [] })).rejects.toThrow('must NOT have fewer than 1 items');
  await expect(client.findWrapper({ emailTemplateIds: Array(11).fill(first.id) })).rejects.toThrow(
    'must NOT have more than 10 items',
  );
  expect(await find(...Array(10).fill(first.id))).toBe('1 %MESSAGE%');
});
