import { Code, ConnectError } from '@connectrpc/connect';
import { AiAgentService } from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { type StubServer, startStubServer } from '@ticketing/testkit/stub-server.ts';

/** The tags and AI agents of the stub of the called services, and the calls that it has received. */
export interface CalledModel {
  tagIds: Set<number>;
  agentIds: Set<number>;
  /** The callers that the tokens have named. */
  callers: unknown[];
  /** Whether every call fails with `unavailable`. */
  isUnavailable: boolean;
}

/** Serves tags and AI agents over gRPC, as the parts of other services that the knowledge service calls. */
export function serveCalled(model: CalledModel): Promise<StubServer> {
  return startStubServer((router) => {
    router.service(AiAgentService, {
      findAiAgents({ ids }) {
        if (model.isUnavailable) throw new ConnectError('unavailable', Code.Unavailable);
        return { ids: ids.filter((id) => model.agentIds.has(id)) };
      },
    });
    router.service(TagService, {
      getTag({ id }, { requestHeader }) {
        if (model.isUnavailable) throw new ConnectError('unavailable', Code.Unavailable);
        const token = requestHeader.get('authorization')?.split('.')[1] ?? '';
        model.callers.push(JSON.parse(Buffer.from(token, 'base64url').toString()).caller);
        if (!model.tagIds.has(id)) throw new ConnectError('Tag not found', Code.NotFound);
        return { tag: { id } };
      },
    });
  });
}
