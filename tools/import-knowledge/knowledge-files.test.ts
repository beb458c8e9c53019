import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { knowledgeFiles, readFileContent } from './knowledge-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'knowledge-files-'));
afterAll(() => rmSync(folder, { recursive: true }));
const mkfifo = '/usr/bin/mkfifo';
const makePipe = (name: string) => execFileSync(mkfifo, [join(folder, name)]);
const at = (name: string) => ({ path: join(folder, name), relativePath: name, kind: 'text' as const });

it('lists no links, pipes and hidden files, in whatever folder they are', async () => {
  mkdirSync(join(folder, 'deep', '.hidden'), { recursive: true });
  for (const name of ['a.txt', 'deep/b.md', 'deep/.hidden/c.md', '.d.md', 'e.pdf'])
    writeFileSync(join(folder, name), 'text');
  symlinkSync('/etc/hostname', join(folder, 'link.txt'));
  symlinkSync('/etc', join(folder, 'deep', 'etc'));
  symlinkSync('..', join(folder, 'deep', 'up'));
  makePipe('pipe.txt');
  const files = await knowledgeFiles(folder);
  expect(files.map(({ relativePath }) => relativePath)).toEqual(['a.txt', 'deep/b.md']);
});

it('refuses what has become a pipe or a folder, and does not wait for it', async () => {
  makePipe('late.txt');
  expect(await readFileContent(at('late.txt'))).toEqual({ reason: 'This is no file.' });
  mkdirSync(join(folder, 'folder.txt'));
  expect(await readFileContent(at('folder.txt'))).toEqual({ reason: 'This is no file.' });
  symlinkSync('/etc/hostname', join(folder, 'late-link.txt'));
  await expect(readFileContent(at('late-link.txt'))).rejects.toThrow('ELOOP');
});

it('takes a file of 1 MiB, and refuses one with a byte more', async () => {
  writeFileSync(join(folder, 'large.txt'), 'x'.repeat(1024 * 1024));
  expect(await readFileContent(at('large.txt'))).toMatchObject({ name: 'large.txt', title: 'large' });
  writeFileSync(join(folder, 'larger.txt'), 'x'.repeat(1024 * 1024 + 1));
  expect(await readFileContent(at('larger.txt'))).toEqual({
    reason: 'The file has 1048577 bytes; 1048576 are allowed.',
  });
});
