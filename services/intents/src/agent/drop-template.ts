import type {
  DropTemplateRequest,
  DropTemplateResponse,
} from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { dropTemplate as drop } from './drop-deleted.ts';

/** Drops a deleted response template from the AI agents. Source: docs/reference/api.md, AI agents. */
export async function dropTemplate(
  context: Context,
  _call: Call,
  { templateId }: DropTemplateRequest,
): Promise<DropTemplateResponse> {
  await drop(context, templateId);
  return { $typeName: 'ticketing.intents.v1.DropTemplateResponse' };
}
