import type {
  DeleteTemplateRequest,
  DeleteTemplateResponse,
} from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import { releaseFiles } from '@ticketing/files/attach-files.ts';
import { eraseFiles } from '@ticketing/files/sweep-files.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { dropFromAiAgents } from './drop-from-ai-agents.ts';
import type { DeletionParts } from './open.ts';

/** How long a deletion waits until AI agents have dropped the template. */
const dropMs = 1_000;

/**
 * Deletes a response template and its files. AI agents drop it afterwards: at once, or when the intents service is available
 * again.
 *
 * Errors: template_not_found. Source: docs/reference/api.md, Templates.
 */
export async function deleteTemplate(
  parts: DeletionParts,
  { trace, signal, log }: Call,
  { id }: DeleteTemplateRequest,
): Promise<DeleteTemplateResponse> {
  if (!(await parts.templates.find(id))) throw notFound('Template');
  await parts.deletions.begin(id);
  // If this process dies after the next write, the sweeper removes them.
  await releaseFiles(parts.files, await parts.templates.readFiles(id));
  if (!(await parts.templates.remove(id))) throw notFound('Template');
  await eraseFiles(parts.files, id);
  const waiting = AbortSignal.any([signal, AbortSignal.timeout(dropMs)]);
  await dropFromAiAgents(parts, { trace, signal: waiting }, id).catch((error: unknown) => {
    log.info({ err: error, templateId: id }, 'AI agents drop a deleted template later');
  });
  return { $typeName: 'ticketing.templates.v1.DeleteTemplateResponse', success: true };
}
