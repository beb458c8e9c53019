import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { findPreviousVersion } from './previous-version.ts';

test('a shallow clone does not have the previous version; in CI it is fetched', () => {
  const { clone, previous } = shallowClone();
  expect(findPreviousVersion(false, clone)).toMatchObject({
    missing: expect.stringContaining('is not in this clone; git fetch --unshallow gets it'),
  });
  expect(findPreviousVersion(true, clone)).toEqual({ revision: previous });
  expect(findPreviousVersion(false, clone)).toEqual({ revision: previous });
});

test('where it cannot be fetched, a line says that the upgrade is not tried', () => {
  const { clone, origin } = shallowClone();
  rmSync(origin, { recursive: true });
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => write.mockRestore());
  expect(findPreviousVersion(true, clone)).toHaveProperty('missing');
  expect(write).toHaveBeenCalledWith(expect.stringMatching(/^NOT TRIED: an upgrade from N−1, because the previous/));
});

test('a complete clone without that revision is an error; the advice is a tag, which then is the previous version', () => {
  const { origin } = shallowClone();
  const git = (...args: string[]) => execFileSync('git', ['-C', origin, ...args], { encoding: 'utf8' }).trim();
  git('tag', '--delete', 'v1.0.0');
  expect(() => findPreviousVersion(false, origin)).toThrow('name it by git tag v0.1.0 COMMIT');
  git('tag', 'v0.1.0', 'HEAD^');
  expect(findPreviousVersion(false, origin)).toEqual({ revision: git('rev-parse', 'HEAD^') });
});

test('a folder that is no clone has no previous version', () => {
  const { origin } = shallowClone();
  rmSync(join(origin, '.git'), { recursive: true });
  expect(findPreviousVersion(false, origin)).toMatchObject({ missing: expect.stringContaining('no clone') });
});

/** Makes a repository with a release before its last commit, and a clone of that commit only. */
function shallowClone(): { origin: string; clone: string; previous: string } {
  const folder = mkdtempSync(join(tmpdir(), 'ticketing-clone-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [origin, clone] = [join(folder, 'origin'), join(folder, 'clone')];
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.org'];
  const git = (...args: string[]) =>
    execFileSync('git', [...identity, ...args], { cwd: folder, encoding: 'utf8' }).trim();
  git('init', '--quiet', origin);
  for (const name of ['one', 'two']) git('-C', origin, 'commit', '--quiet', '--allow-empty', '-m', name);
  const previous = git('-C', origin, 'rev-parse', 'HEAD^');
  git('-C', origin, 'tag', 'v1.0.0', previous);
  git('clone', '--quiet', '--depth', '1', `file://${origin}`, clone);
  return { origin, clone, previous };
}
