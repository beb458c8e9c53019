import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// Loaded before a program is, so that Node loads its compiler of TypeScript only for sources that have changed. The
// variable is for the processes that the program starts.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'node');
enableCompileCache(process.env.NODE_COMPILE_CACHE);
