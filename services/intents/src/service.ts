import { AiAgentService } from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import { AnalysisService } from '@ticketing/contracts/ticketing/intents/v1/analysis_service_pb.ts';
import { IntentService } from '@ticketing/contracts/ticketing/intents/v1/intent_service_pb.ts';
import { SessionService } from '@ticketing/contracts/ticketing/intents/v1/session_service_pb.ts';
import { implement } from '@ticketing/rest/rest-api.ts';
import { composeService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { openContext } from './application/context.ts';
import { printEncryption } from './application/encrypt-secrets-again.ts';
import { eraseTicket } from './application/erase-ticket.ts';
import { openAnalyser } from './application/open-analyser.ts';
import { openLearner } from './application/open-learner.ts';
import { scheduledTasks } from './application/scheduled-tasks.ts';
import { readIntentsConfig } from './config.ts';
import { eventHandler } from './events/consume.ts';
import { analyseTicket } from './rpc/analyse-ticket.ts';
import { createAiAgent } from './rpc/create-ai-agent.ts';
import { deleteAiAgent } from './rpc/delete-ai-agent.ts';
import { dropTemplate } from './rpc/drop-template.ts';
import { executeIntent } from './rpc/execute-intent.ts';
import { findAiAgents } from './rpc/find-ai-agents.ts';
import { getAiAgent } from './rpc/get-ai-agent.ts';
import { listAiAgents } from './rpc/list-ai-agents.ts';
import { listSessions } from './rpc/list-sessions.ts';
import { recordSession } from './rpc/record-session.ts';
import { requestAnalyses } from './rpc/request-analyses.ts';
import { updateAiAgent } from './rpc/update-ai-agent.ts';
import { readSettings } from './settings.ts';
import { setUpStore } from './store/set-up-store.ts';

/** The intents service. */
export const service = composeService({
  name: 'intents',
  readConfig: readIntentsConfig,
  readSettings,
  setUpStore,
  compose(kit) {
    const context = openContext(kit);
    return {
      implementations: [
        implement(AiAgentService, context, {
          createAiAgent,
          deleteAiAgent,
          dropTemplate,
          findAiAgents,
          getAiAgent,
          listAiAgents,
          updateAiAgent,
        }),
        implement(AnalysisService, context, { analyseTicket, requestAnalyses }),
        implement(IntentService, context, { executeIntent }),
        implement(SessionService, context, { listSessions, recordSession }),
      ],
      handle: eventHandler(context),
      eraseTicket: (id) => eraseTicket(context, id),
      tasks: scheduledTasks(context),
      operations: { 'encrypt-secrets': (print) => printEncryption(context, print) },
      loops: [
        { role: 'analyser', start: () => openAnalyser(context, kit) },
        { role: 'analyser', start: () => openLearner(context, kit) },
      ],
      pending: [
        { description: 'tickets are not analysed yet', count: async () => (await context.analyses.size()).queued },
      ],
    };
  },
});
