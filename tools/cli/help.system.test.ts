import { test } from 'vitest';
import { commands, expectHelp } from './command-help.ts';

test.each(commands)('npm run %s explains itself with --help, and refuses an unknown option in a sentence', expectHelp);
