import { describe, expect, test } from 'vitest';
import { injectionMails } from '../../test/injection-mails.ts';
import { request, useModel } from '../../test/openai-harness.ts';
import { obeying } from '../../test/stub-model.ts';
import { maxSummaryChars } from './openai-answer.ts';
import { instructions } from './openai-question.ts';
import type { Detected } from './rules/detected.ts';

const used = useModel();

describe('a mail that gives orders to an obedient model', () => {
  test.each(injectionMails.map((mail) => [mail.subject, mail] as const))(
    // guarantee: I29
    '%s: gets no more than the request offers',
    async (_, mail) => {
      const detect = used.open();
      const asked = { ...request, text: { subject: mail.subject, body: mail.body } };
      const answers: Detected[] = [];
      for (const enforces of [false, true]) {
        used.model.respond = obeying(mail.demanded, enforces);
        const answer = await detect(asked).catch((error) => {
          expect(error.reason).toBe('invalid_answer');
        });
        if (answer) answers.push(answer);
      }
      // An answer is always used if the endpoint enforces the schema.
      expect(answers.length).toBeGreaterThan(0);
      for (const answer of answers) {
        expect(Object.keys(answer).sort()).toEqual([
          'keywords',
          'languageCode',
          'sentiment',
          'spam',
          'summary',
          'tags',
        ]);
        expect(Object.keys(answer.spam ?? {}).sort()).toEqual(['confidence', 'isSpam']);
        for (const { label, confidence } of [...answer.tags, { label: 3, confidence: answer.spam?.confidence ?? 0 }]) {
          expect([3, 12]).toContain(label);
          expect(confidence).toSatisfy((number: number) => number >= 0 && number <= 1);
        }
        expect(['positive', 'neutral', 'negative']).toContain(answer.sentiment);
        expect(answer.languageCode ?? 'de').toMatch(/^[a-z]{2}$/);
        expect((answer.summary ?? '').length).toBeLessThanOrEqual(maxSummaryChars);
        expect(answer.keywords.every((keyword) => request.keywords.includes(keyword))).toBe(true);
      }
      for (const { body } of used.model.requests) {
        expect(body.messages.map(({ role }) => role)).toEqual(['system', 'user']);
        expect(body.messages[0]?.content).toBe(instructions);
        expect(body).not.toHaveProperty('tools');
      }
    },
  );
});
