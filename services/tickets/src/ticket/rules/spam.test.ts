import { SpamStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { describe, expect, it } from 'vitest';
import { isProgrammatic, readHeaderRules, withHeaderRule } from './spam.ts';

const standard = readHeaderRules({ 'Auto-Submitted': ['!no'], Precedence: ['bulk', 'list', 'junk'] });

describe('the default rule', () => {
  it.each([
    [{ 'Auto-Submitted': 'auto-replied' }, true],
    [{ 'auto-submitted': 'auto-generated' }, true],
    [{ 'AUTO-SUBMITTED': 'auto-replied; owner-email="a@b.de"' }, true],
    [{ 'auto-submitted': 'no' }, false],
    [{ 'auto-submitted': ' No (written by hand)' }, false],
    [{ 'auto-submitted': '' }, false],
    [{ 'auto-submitted': ['no', 'auto-replied'] }, true],
    [{ 'auto-submitted': [] }, false],
    [{ precedence: 'Bulk' }, true],
    [{ precedence: 'list' }, true],
    [{ precedence: ['first-class', 'junk'] }, true],
    [{ precedence: 'bulky' }, false],
    [{ precedence: 'first-class' }, false],
    [{ 'x-precedence': 'bulk' }, false],
    [{ precedence: 7 }, false],
    [{ precedence: { value: 'bulk' } }, false],
    [{}, false],
    [['precedence', 'bulk'], false],
    ['precedence: bulk', false],
    [null, false],
    [undefined, false],
  ])('of %j is %s', (headers, expected) => {
    expect(isProgrammatic(standard, headers)).toBe(expected);
  });
});

describe('a rule of the setting', () => {
  it('with true takes any value that is not empty', () => {
    const rules = readHeaderRules({ 'List-Id': true });
    expect(isProgrammatic(rules, { 'list-id': '<x.example>' })).toBe(true);
    expect(isProgrammatic(rules, { 'list-id': ' ' })).toBe(false);
    expect(isProgrammatic(rules, { precedence: 'bulk' })).toBe(false);
  });

  it('with several other values takes what is none of them, and a listed value too', () => {
    const rules = readHeaderRules({ 'X-Kind': ['!person', '!agent of ours', 'PERSON by robot'] });
    for (const [value, expected] of [
      ['Person', false],
      ['agent of ours', false],
      ['agent', true],
      ['person by robot', true],
    ] as const) {
      expect(isProgrammatic(rules, { 'x-kind': value })).toBe(expected);
    }
  });

  it.each([undefined, null, [], 'x', { Precedence: false }, { Precedence: 'bulk' }, { Precedence: [7] }])(
    'that has the form %j takes nothing',
    (setting) => {
      expect(isProgrammatic(readHeaderRules(setting), { precedence: 'bulk' })).toBe(false);
    },
  );
});

describe('a new ticket', () => {
  const rawData = JSON.stringify({ headers: { Precedence: 'bulk' } });

  // spec: 5.2
  it('is programmatic by its raw data', () => {
    expect(withHeaderRule({ rawData }, standard)).toEqual({ rawData, spamStatus: SpamStatus.AUTO_PROGRAMMATIC });
    for (const other of ['{}', '{"headers":null}', '{"header":{"Precedence":"bulk"}}', '["headers"]', null]) {
      expect(withHeaderRule({ rawData: other }, standard)).toEqual({ rawData: other });
    }
  });

  it('keeps a status that it has', () => {
    const input = { rawData, spamStatus: SpamStatus.MANUAL_CLEAN };
    expect(withHeaderRule(input, standard)).toBe(input);
    expect(withHeaderRule({ rawData, spamStatus: null }, standard).spamStatus).toBe(SpamStatus.AUTO_PROGRAMMATIC);
  });
});
