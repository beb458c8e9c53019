import { describe, expect, it } from 'vitest';
import { needsGlibcPatch, unsupportedReason } from './platform.ts';

describe('unsupportedReason', () => {
  it.each([
    { os: 'linux', arch: 'x64', glibc: '2.36' },
    { os: 'linux', arch: 'arm64', glibc: '2.41' },
    { os: 'darwin', arch: 'arm64', glibc: undefined },
  ])('is undefined for $os $arch with glibc $glibc', (platform) => {
    expect(unsupportedReason(platform)).toBeUndefined();
  });

  it.each([
    { os: 'win32', arch: 'x64', glibc: undefined },
    { os: 'darwin', arch: 'x64', glibc: undefined },
    { os: 'linux', arch: 'x64', glibc: undefined },
    { os: 'linux', arch: 'riscv64', glibc: '2.41' },
    { os: 'linux', arch: 'x64', glibc: '2.35' },
  ])('recommends MONGODB_URI on $os $arch with glibc $glibc', (platform) => {
    expect(unsupportedReason(platform)).toMatch(/^The embedded MongoDB [^\n]*: set MONGODB_URI to a MongoDB server\.$/);
  });
});

describe('needsGlibcPatch', () => {
  it.each([
    ['2.36', true],
    ['2.37', true],
    ['2.38', false],
    ['2.41', false],
    [undefined, false],
  ])('for glibc %s is %s', (glibc, expected) => {
    expect(needsGlibcPatch({ os: 'linux', arch: 'x64', glibc })).toBe(expected);
  });
});
