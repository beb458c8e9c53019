import { AiAgentService } from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import { AnalysisService } from '@ticketing/contracts/ticketing/intents/v1/analysis_service_pb.ts';
import { IntentService } from '@ticketing/contracts/ticketing/intents/v1/intent_service_pb.ts';
import { SessionService } from '@ticketing/contracts/ticketing/intents/v1/session_service_pb.ts';
import { implement } from '@ticketing/rest/routes/rest-api.ts';
import { composeService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { createAiAgent } from './agent/create.ts';
import { deleteAiAgent } from './agent/delete.ts';
import { dropTemplate } from './agent/drop-template.ts';
import { printEncryption } from './agent/encrypt-secrets-again.ts';
import { findAiAgents, getAiAgent } from './agent/get.ts';
import { listAiAgents } from './agent/list.ts';
import { updateAiAgent } from './agent/update.ts';
import { readIntentsConfig } from './config.ts';
import { eventHandler } from './consume.ts';
import { openContext } from './context.ts';
import { openAnalyser } from './detection/analyser.ts';
import { readSettings } from './detection/configured.ts';
import { analyseTicket, requestAnalyses } from './detection/request-analyses.ts';
import { eraseTicket } from './erase.ts';
import { executeIntent } from './execution/execute.ts';
import { openLearner } from './learning/learner.ts';
import { scheduledTasks } from './scheduled-tasks.ts';
import { listSessions } from './session/list.ts';
import { recordSession } from './session/record.ts';
import { setUpStore } from './set-up-store.ts';

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
