import { randomBytes } from 'node:crypto';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Overwrites blocks of the largest collection in the folder of a stopped embedded store. Returns the name of its file. */
export async function damageLargestFile(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.startsWith('collection-'));
  const sizes = await Promise.all(names.map(async (name) => ({ name, size: (await stat(join(folder, name))).size })));
  const [{ name, size } = { name: '', size: 0 }] = sizes.sort((left, right) => right.size - left.size);
  const file = await open(join(folder, name), 'r+');
  for (let at = 0.3; at < 0.7; at += 0.05)
    await file.write(randomBytes(4096), 0, 4096, Math.floor((size * at) / 4096) * 4096);
  await file.close();
  return name;
}
