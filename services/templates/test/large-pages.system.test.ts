import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { startHarness, type TemplatesHarness } from './harness.ts';

let harness: TemplatesHarness;

beforeAll(async () => {
  harness = await startHarness();
});
afterEach(() => harness.empty());
afterAll(() => harness.stop());

const MiB = 1024 * 1024;
const large = `${'x'.repeat(MiB - '%MESSAGE%'.length)}%MESSAGE%`;

it('a page of response templates that is too large is refused, with a limit that fits', async () => {
  const wrapper = await harness.create('/emailTemplate', { name: 'Usual', template: large });
  const { id } = await harness.create('/template', { message: 'y'.repeat(MiB), emailTemplateId: wrapper.id });
  const templates = harness.database.collection<{ _id: number }>('templates');
  const stored = await templates.findOne({ _id: id });
  for (let nth = 1; nth < 5; nth++) await templates.insertOne({ ...stored, _id: id + nth });
  const { status, json } = await harness.request('GET', '/template?limit=5');
  expect([status, json.code]).toEqual([400, 'page_too_large']);
  expect(json.detail).toMatch(/a limit of 4 fits$/);
  const page = await harness.request('GET', '/template?limit=4');
  expect([page.status, page.json.templates.length, page.json.total]).toEqual([200, 4, 5]);
  expect(page.json.templates[0].mergedTemplate).toHaveLength(2 * MiB - 9);
});

it('a page of e-mail templates that is too large is refused, with a limit that fits', async () => {
  const stored = Array.from({ length: 17 }, (_, at) => ({
    _id: at + 1,
    name: `${at}`,
    foldedName: `${at}`,
    template: large,
    bytes: MiB,
  }));
  for (const one of stored) await harness.database.collection<{ _id: number }>('emailTemplates').insertOne(one);
  const { status, json } = await harness.request('GET', '/emailTemplate?limit=17');
  expect([status, json.code]).toEqual([400, 'page_too_large']);
  expect(json.detail).toMatch(/a limit of 16 fits$/);
  const page = await harness.request('GET', '/emailTemplate?limit=16');
  expect([page.status, page.json.emailTemplates.length, page.json.total]).toEqual([200, 16, 17]);
});
