import { expect, test } from 'vitest';
import { readFaultOptions } from './options.ts';

test('by default kills a hundred times, with a second between two faults', () => {
  const options = {
    kills: 100,
    focus: undefined,
    secondsBetween: 1,
    servers: undefined,
    dataDir: undefined,
    hasReplicas: false,
  };
  expect(readFaultOptions([], 42)).toEqual({ ...options, seed: 42 });
  const given = [
    '--kills',
    '5',
    '--focus',
    'settings',
    '--seconds-between',
    '0.5',
    '--seed',
    '7',
    '--data',
    '/x',
    '--servers',
    'run it',
  ];
  expect(readFaultOptions([...given, '--replicas'], 42)).toEqual({
    kills: 5,
    focus: 'settings',
    secondsBetween: 0.5,
    seed: 7,
    servers: 'run it',
    dataDir: '/x',
    hasReplicas: true,
  });
});

test('refuses unknown options and invalid values', () => {
  expect(() => readFaultOptions(['--kills', 'many'], 0)).toThrow('--kills takes a number, not "many".');
  expect(() => readFaultOptions(['--focus', 'seting'], 0)).toThrow(
    '--focus takes the name of a service, not "seting".',
  );
  expect(() => readFaultOptions(['--kill', '1'], 0)).toThrow('--help lists the options');
  expect(readFaultOptions(['--help'], 0)).toContain('npm run faults');
});
