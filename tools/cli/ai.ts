import { runAi } from '../ai/run-ai.ts';

process.exitCode = await runAi(process.argv.slice(2));
