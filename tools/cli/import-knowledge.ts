import { runKnowledgeImport } from '../import-knowledge/run-knowledge-import.ts';

process.exitCode = await runKnowledgeImport(process.argv.slice(2));
