/** Runs before each test file, in the process of the files before it. */
import fc from 'fast-check';
import { restartBytes, seed } from './seed.ts';

fc.configureGlobal({ seed });
restartBytes();
