import type { JsonValue } from '@bufbuild/protobuf';
import { SpamStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { describe, expect, it } from 'vitest';
import { defaultSettings } from '../../settings.ts';
import { isProgrammatic, type ProgramRules, readHeaderRules, withHeaderRule } from './spam.ts';

const isOurs = (address: string) => ['team@example.org', 'help.desk@example.org'].includes(address.toLowerCase());
const standard: ProgramRules = { headers: defaultSettings.headerRules, isOurs };
const readRules = (setting: JsonValue | undefined): ProgramRules => ({ headers: readHeaderRules(setting), isOurs });

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
    [{ precedence: 'auto_reply' }, true],
    [{ precedence: 'bulky' }, false],
    [{ precedence: 'first-class' }, false],
    [{ 'x-precedence': 'bulk' }, false],
    [{ 'x-precedence': 'auto_reply' }, true],
    [{ 'X-Autoreply': 'yes' }, true],
    [{ 'X-Autoreply': 'no' }, false],
    [{ 'X-Autorespond': 'Re: Meter' }, true],
    [{ 'X-AutoReply-From': 'kim@example.com' }, true],
    [{ 'X-Mail-Autoreply': 'Vacation' }, true],
    [{ 'X-Failed-Recipients': 'kim@example.com' }, true],
    [{ 'X-Auto-Response-Suppress': 'All' }, false],
    [{ 'list-id': '<news.example.com>' }, true],
    [{ 'list-unsubscribe': '<mailto:off@example.com>' }, false],
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

describe('a mail of a server, whatever the rules are, is one', () => {
  it.each([
    [{ 'return-path': '<>' }, true],
    [{ 'Return-Path': ' <> ' }, true],
    [{ 'return-path': '<kim@example.com>' }, false],
    [{ 'return-path': '' }, false],
    [{ 'content-type': 'multipart/report; report-type=delivery-status; boundary=b' }, true],
    [{ 'content-type': ' Multipart/Report;report-type=disposition-notification' }, true],
    [{ 'content-type': 'multipart/reporting' }, false],
    [{ 'content-type': 'text/plain; name="multipart/report"' }, false],
    [{ 'x-ms-exchange-message-is-ndr': '' }, true],
  ])('with %j: %s', (headers, expected) => {
    expect(isProgrammatic(readRules({}), headers)).toBe(expected);
  });
});

describe('a mail of a mailing list of ours', () => {
  const list = { precedence: 'list' };

  it.each([
    { 'list-id': '<team.example.org>' },
    { 'list-id': '<help.desk.example.org>' },
    { 'list-id': 'Our team <TEAM.example.org>' },
    { 'list-id': '<x.example>', 'list-post': '<https://x.example/post>, <mailto:Team@example.org>' },
    { 'mailing-list': 'list team@example.org; contact team+owners@example.org' },
    { 'x-beenthere': 'help.desk@example.org' },
  ])('is one of a person: %j', (headers) => {
    expect(isProgrammatic(standard, { ...headers, ...list })).toBe(false);
    expect(isProgrammatic(standard, headers)).toBe(false);
  });

  it('is one of a program with another sign, or if the list has another address', () => {
    const ours = { 'list-id': '<team.example.org>', ...list };
    expect(isProgrammatic(standard, { ...ours, 'auto-submitted': 'auto-replied' })).toBe(true);
    expect(isProgrammatic(standard, { ...ours, precedence: ['list', 'bulk'] })).toBe(true);
    expect(isProgrammatic(standard, { ...list, 'list-id': '<team.example.com>' })).toBe(true);
    expect(isProgrammatic(standard, { ...list, to: 'team@example.org' })).toBe(true);
    expect(isProgrammatic(standard, { ...list, 'list-id': `${'x '.repeat(1000)}team@example.org` })).toBe(true);
  });
});

describe('a rule of the setting', () => {
  it('with true takes any value that is not empty', () => {
    const rules = readRules({ 'List-Id': true });
    expect(isProgrammatic(rules, { 'list-id': '<x.example>' })).toBe(true);
    expect(isProgrammatic(rules, { 'list-id': ' ' })).toBe(false);
    expect(isProgrammatic(rules, { precedence: 'bulk' })).toBe(false);
  });

  it('with several other values takes what is none of them, and a listed value too', () => {
    const rules = readRules({ 'X-Kind': ['!person', '!agent of ours', 'PERSON by robot'] });
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
      expect(isProgrammatic(readRules(setting), { precedence: 'bulk' })).toBe(false);
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
