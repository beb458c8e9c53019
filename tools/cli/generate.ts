import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deployParts } from '../deploy/deploy-parts.ts';
import { withGeneratedLines } from '../dev/generated-parts.ts';
import { documentIndexes, withDocumentLists } from '../docs/document-indexes.ts';
import { architectureDocument, withSystemDrawing } from '../docs/system-drawing.ts';
import { conformanceDocument, readRequirements, withDeviations } from '../docs/traces.ts';
import { scalingDocument, withCapacityParts } from '../k8s/capacity-parts.ts';
import { manifestFiles } from '../k8s/manifest-files.ts';
import { operationsDocument, withOperationParts } from '../operations/operation-parts.ts';
import { withTemplateParts } from '../templates/template-parts.ts';
import { declareCommand } from './command.ts';

/**
 * Generates packages/contracts from proto/: the code, then the descriptor image with the comments. Afterwards generates
 * the parts of docs/webhooks.md that follow from it, the parts of docs/templates.md that follow from the helpers, the
 * table of operations, the files in deploy/ and the drawing of the system that follow from its description, the deviations
 * from the specification, the lists of documents, and the generated files of packages/client.
 */
async function generate(): Promise<void> {
  execFileSync('buf', ['generate'], { stdio: 'inherit' });
  const image = 'packages/contracts/src/contract.binpb';
  execFileSync('buf', ['build', '--as-file-descriptor-set', '--exclude-imports', '-o', image], { stdio: 'inherit' });
  // It reads the code that was just generated.
  const { withGuideParts } = await import('../webhook/guide-parts.ts');
  const guide = 'docs/webhooks.md';
  writeFileSync(guide, withGuideParts(readFileSync(guide, 'utf8')));
  const authors = 'docs/templates.md';
  writeFileSync(authors, withTemplateParts(readFileSync(authors, 'utf8')));
  writeFileSync(operationsDocument, withOperationParts(readFileSync(operationsDocument, 'utf8')));
  for (const [file, text] of manifestFiles()) writeFileSync(file, text);
  for (const [file, parts] of Object.entries(deployParts())) {
    writeFileSync(file, withGeneratedLines(readFileSync(file, 'utf8'), parts));
  }
  writeFileSync(architectureDocument, withSystemDrawing(readFileSync(architectureDocument, 'utf8')));
  // It reads the manifests that were just written.
  writeFileSync(scalingDocument, withCapacityParts(readFileSync(scalingDocument, 'utf8')));
  const conformance = readFileSync(conformanceDocument, 'utf8');
  writeFileSync(conformanceDocument, withDeviations(conformance, readRequirements('.').spec));
  for (const index of Object.keys(documentIndexes)) {
    writeFileSync(index, withDocumentLists('.', index, readFileSync(index, 'utf8')));
  }
  const { clientFiles, clientFolder } = await import('../client/client-files.ts');
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

export const command = declareCommand({ usage, options: {}, runsInProduction: true }, generate);
