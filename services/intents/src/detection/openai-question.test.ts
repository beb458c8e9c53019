import { setImmediate } from 'node:timers/promises';
import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { withinCpuTime } from '@ticketing/testkit/machine-limits.ts';
import { expect, test } from 'vitest';
import { buildQuestion, maxTags } from './openai-question.ts';

const requestWith = (tags: number) => ({
  ticketId: 1,
  text: { subject: null, body: 'ﷺ '.repeat(10_000) },
  channel: Channel.EMAIL,
  tags: Array.from({ length: tags }, (_, index) => ({
    id: index + 1,
    name: `tag${index}`,
    keywords: Array.from({ length: 100 }, (__, number) => `keyword ${number}`),
  })),
  keywords: [],
});

test('thousands of tags are looked for without keeping the process from other work', async () => {
  let turns = 0;
  const asking = Promise.resolve(buildQuestion(requestWith(3000), new AbortController().signal));
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  asking.then(end, end);
  for (; !isOver; turns += 1) await setImmediate();
  await asking;
  expect(turns).toBeGreaterThan(1);
});

test('nothing is looked for any more once nobody waits for it', async () => {
  await expect(async () => buildQuestion(requestWith(3000), AbortSignal.abort(new Error('gone')))).rejects.toThrow(
    'gone',
  );
});

test('of thousands of tags those that a long text suggests are chosen in a moment', async () => {
  const tags = Array.from({ length: 5_000 }, (_, index) => ({
    id: index + 1,
    name: `Top level ${index % 20} of all tags / Subtopic${index}`,
    keywords: [`keyword${index}`, `other word ${index}`],
  }));
  const body = `keyword4321 subtopic4999 other word 777 ${'tempo sit vidi dolor sed diam '.repeat(650)}`;
  const request = { ticketId: 1, text: { subject: null, body }, channel: Channel.EMAIL, tags, keywords: [] };
  const { messages } = await withinCpuTime(300, () => buildQuestion(request, new AbortController().signal));
  const offered = JSON.parse(messages[1]?.content ?? '').tags.map(({ id }: { id: string }) => id);
  expect(offered).toHaveLength(maxTags);
  expect(offered.slice(0, 4)).toEqual(['778', '4322', '5000', '1']);
});
