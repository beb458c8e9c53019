import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { clientFiles, clientFolder } from '../client/client-files.ts';
import { deployParts } from '../deploy/deploy-parts.ts';
import { withGeneratedLines } from '../dev/generated-parts.ts';
import { documentIndexes, withDocumentLists } from '../docs/document-indexes.ts';
import { architectureDocument, withSystemDrawing } from '../docs/system-drawing.ts';
import { conformanceDocument, readRequirements, withDeviations } from '../docs/traces.ts';
import { scalingDocument, withCapacityParts } from '../k8s/capacity-parts.ts';
import { manifestFiles } from '../k8s/manifest-files.ts';
import { operationsDocument, withOperationParts } from '../operations/operation-parts.ts';
import { withTemplateParts } from '../templates/template-parts.ts';
import { withGuideParts } from '../webhook/guide-parts.ts';

/**
 * Writes what follows from the contracts and from the description of the system: the parts of docs/webhooks.md that follow
 * from the contracts, those of docs/templates.md that follow from the helpers, the table of operations, the files in deploy/,
 * the drawing of the system, the deviations from the specification, the lists of documents, and the generated files of
 * packages/client.
 */
export async function writeParts(): Promise<void> {
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
  for (const [name, text] of Object.entries(await clientFiles())) {
    const path = join(clientFolder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}
