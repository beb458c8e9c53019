import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runScript } from '../tools/dev/run-script.ts';
import { documentIndexes, withDocumentLists } from '../tools/docs/document-indexes.ts';
import { conformanceDocument, readRequirements, withDeviations } from '../tools/docs/traces.ts';
import { scalingDocument, withCapacityParts } from '../tools/k8s/capacity-parts.ts';
import { manifestFiles } from '../tools/k8s/manifest-files.ts';
import { operationsDocument, withOperationParts } from '../tools/operations/operation-parts.ts';
import { withTemplateParts } from '../tools/templates/template-parts.ts';

/**
 * Generates packages/contracts from proto/: the code, then the descriptor image with the comments. Afterwards generates
 * the parts of docs/webhooks.md that follow from it, the parts of docs/templates.md that follow from the helpers, the
 * table of operations, the manifests in deploy/k8s that follow from the description of the system, the deviations from
 * the specification, the lists of documents, and the generated files of packages/client.
 */
export async function generate(): Promise<void> {
  execFileSync('buf', ['generate'], { stdio: 'inherit' });
  const image = 'packages/contracts/src/contract.binpb';
  execFileSync('buf', ['build', '--as-file-descriptor-set', '--exclude-imports', '-o', image], { stdio: 'inherit' });
  // It reads the code that was just generated.
  const { withGuideParts } = await import('../tools/webhook/guide-parts.ts');
  const guide = 'docs/webhooks.md';
  writeFileSync(guide, withGuideParts(readFileSync(guide, 'utf8')));
  const authors = 'docs/templates.md';
  writeFileSync(authors, withTemplateParts(readFileSync(authors, 'utf8')));
  writeFileSync(operationsDocument, withOperationParts(readFileSync(operationsDocument, 'utf8')));
  for (const [file, text] of manifestFiles()) writeFileSync(file, text);
  // It reads the manifests that were just written.
  writeFileSync(scalingDocument, withCapacityParts(readFileSync(scalingDocument, 'utf8')));
  const conformance = readFileSync(conformanceDocument, 'utf8');
  writeFileSync(conformanceDocument, withDeviations(conformance, readRequirements('.').spec));
  for (const index of Object.keys(documentIndexes)) {
    writeFileSync(index, withDocumentLists('.', index, readFileSync(index, 'utf8')));
  }
  const { clientFiles, clientFolder } = await import('../tools/client/client-files.ts');
  for (const [name, text] of Object.entries(await clientFiles())) {
    const path = join(clientFolder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

const usage = `Writes all files that follow from others: the code of the contracts, the types of the client, manifests, tables and lists
of documents (CONTRIBUTING.md, Commands):

  npm run generate
`;

if (import.meta.main) await runScript({ usage, options: {}, runsInProduction: true }, generate);
