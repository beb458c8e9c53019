import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withGeneratedLines } from '../dev/generated-parts.ts';
import { deployParts } from './deploy-parts.ts';

test.each(Object.entries(deployParts()))(
  '%s follows from the description; npm run generate writes it',
  (file, parts) => {
    const text = readFileSync(join(import.meta.dirname, '../..', file), 'utf8');
    expect(withGeneratedLines(text, parts)).toBe(text);
  },
);
