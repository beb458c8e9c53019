import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startHarness, type TemplatesHarness } from '../../test/harness.ts';

let harness: TemplatesHarness;

beforeAll(async () => {
  harness = await startHarness();
});
afterEach(() => harness.empty());
afterAll(() => harness.stop());

const MiB = 1024 * 1024;
const zeros = (bytes: number) => ({ name: 'a.bin', base64: Buffer.alloc(bytes).toString('base64') });
const countFiles = () => harness.database.collection('fileRecords').countDocuments();

describe('the files of a template have the limits of a message:', () => {
  it.each<[string, number[], string?]>([
    ['a file of 20 MiB', [20 * MiB]],
    ['a file of one byte more', [20 * MiB + 1], '#/attachments/0 attachment_too_large'],
    ['25 MiB together', [20 * MiB, 5 * MiB]],
    ['one byte more together', [20 * MiB, 5 * MiB + 1], '#/attachments attachments_too_large'],
    // guarantee: I16
  ])('%s', async (_, sizes, violation) => {
    const response = await harness.write('POST', '/template', { message: 'Hello', attachments: sizes.map(zeros) });
    expect(response.status).toBe(violation === undefined ? 201 : 413);
    if (violation !== undefined) expect(violationsOf(response)).toEqual([violation]);
    expect(await countFiles()).toBe(violation === undefined ? sizes.length : 0);
  });

  it.each<[string, number, string]>([
    ['a new file that is too large', 20 * MiB + 1, '#/attachments/1 attachment_too_large'],
    ['more than 25 MiB together with one that is kept', 20 * MiB, '#/attachments attachments_too_large'],
  ])('%s, and nothing is changed', async (_, bytes, violation) => {
    const created = await harness.create('/template', { message: 'Hello', attachments: [zeros(5 * MiB + 1)] });
    const attachments = [{ id: created.attachments[0].id }, zeros(bytes)];
    const response = await harness.write('PATCH', `/template/${created.id}`, { message: 'x', attachments });
    expect([response.status, violationsOf(response)]).toEqual([413, [violation]]);
    expect((await harness.request('GET', `/template/${created.id}`)).json).toEqual(created);
    expect(await countFiles()).toBe(1);
  });
});
