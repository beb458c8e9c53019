import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from '../tools/dev/build.ts';

const folder = join(import.meta.dirname, '..', 'dist');
rmSync(folder, { recursive: true, force: true });
await build(folder);
