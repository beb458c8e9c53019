import { describe, expect, it } from 'vitest';
import { ConfigError, type ConfigReader, type Environment, readConfig } from './config-reader.ts';

const read = <Config>(environment: Environment, reader: (from: ConfigReader) => Config) =>
  readConfig(environment, { service: 'tickets', services: ['gateway', 'tickets', 'intents'] }, reader);

/** The problems of an environment, without the prefix. */
function findProblems(environment: Environment, reader: (from: ConfigReader) => unknown): readonly string[] {
  try {
    read(environment, reader);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map((problem) => problem.replace('TICKETING_TICKETS_', ''));
    throw error;
  }
  return [];
}

describe('a variable', () => {
  it('is read by its type, trimmed', () => {
    const environment = {
      TICKETING_TICKETS_NAME: ' a b ',
      TICKETING_TICKETS_COUNT: '-3',
      TICKETING_TICKETS_PORT: '0',
      TICKETING_TICKETS_ON: 'true',
      TICKETING_TICKETS_ROLES: 'relay, api',
      TICKETING_TICKETS_URL: 'mongodb://host/?x=1',
    };
    const config = read(environment, (from) => ({
      name: from.text('NAME'),
      count: from.integer('COUNT', { default: 0, min: -5, max: 5 }),
      port: from.port('PORT', 1),
      on: from.flag('ON', false),
      roles: from.choices('ROLES', ['api', 'relay', 'consumer']),
      url: from.url('URL', ['mongodb:']),
    }));
    expect(config).toEqual({
      name: 'a b',
      count: -3,
      port: 0,
      on: true,
      roles: ['api', 'relay'],
      url: 'mongodb://host/?x=1',
    });
  });

  it('has its default if it is empty or missing', () => {
    const config = read({ TICKETING_TICKETS_NAME: ' ', TICKETING_TICKETS_COUNT: '' }, (from) => ({
      name: from.optionalText('NAME'),
      text: from.text('TEXT', { default: 'x' }),
      count: from.integer('COUNT', { default: 4, min: 0, max: 9 }),
      on: from.flag('ON', true),
      roles: from.choices('ROLES', ['api', 'relay']),
      word: from.choice('WORD', ['a', 'b'], 'b'),
    }));
    expect(config).toEqual({ name: undefined, text: 'x', count: 4, on: true, roles: ['api', 'relay'], word: 'b' });
  });

  it.each(['1.5', '1e3', '0x10', '10', '-1', 'one', '99999999999999999999'])(
    '`%s` is not an integer from 0 to 9',
    (text) => {
      const problems = findProblems({ TICKETING_TICKETS_N: text }, (from) =>
        from.integer('N', { default: 0, min: 0, max: 9 }),
      );
      expect(problems).toEqual(['N must be a whole number from 0 to 9']);
    },
  );

  it.each(['tickets', 'ftp://a', '//a', 'http//a'])('`%s` is not an http URL', (text) => {
    expect(findProblems({ TICKETING_TICKETS_U: text }, (from) => from.url('U', ['http:']))).toHaveLength(1);
  });
});

describe('an environment', () => {
  it('is refused with an error that lists all its problems', () => {
    const environment = {
      TICKETING_TICKETS_WORD: 'c',
      TICKETING_TICKETS_ROLES: 'api,cook',
      TICKETING_TICKETS_ODD: '1',
    };
    const problems = findProblems(environment, (from) => {
      from.text('NAME');
      from.choice('WORD', ['a', 'b'], 'a');
      from.choices('ROLES', ['api']);
      from.optionalText('FILE');
      from.refuse('Two things exclude each other.');
    });
    expect(problems).toEqual([
      'NAME is required',
      'WORD must be one of: a, b',
      'ROLES may hold api, not cook',
      'Two things exclude each other.',
      'ODD is not a variable of this system',
    ]);
  });

  // guarantee: C10
  it('is refused if a variable belongs to no service', () => {
    const problems = findProblems({ TICKETING_TICKET_NAME: 'x', TICKETING_: 'y' }, () => undefined);
    expect(problems).toEqual([
      'TICKETING_TICKET_NAME is not a variable of this system',
      'TICKETING_ is not a variable of this system',
    ]);
  });

  it('may have variables of other services, of tests and of other programs', () => {
    const environment = { TICKETING_GATEWAY_ODD: '1', TICKETING_TEST_KAFKA_IMAGE: 'x', PATH: '/bin', TICKETINGS: '1' };
    expect(findProblems(environment, () => undefined)).toEqual([]);
  });
});
