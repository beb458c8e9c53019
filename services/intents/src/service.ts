import { fromBinary } from '@bufbuild/protobuf';
import { TicketChangedSchema } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { AiAgentService } from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import { AnalysisService } from '@ticketing/contracts/ticketing/intents/v1/analysis_service_pb.ts';
import { IntentService } from '@ticketing/contracts/ticketing/intents/v1/intent_service_pb.ts';
import { SessionService } from '@ticketing/contracts/ticketing/intents/v1/session_service_pb.ts';
import { ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import { deletedTagIds } from '@ticketing/events/consumer/deleted-tags.ts';
import type { HandleEvents } from '@ticketing/events/consumer/event-handler.ts';
import { implement } from '@ticketing/rest/routes/rest-api.ts';
import { composeService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { createAiAgent } from './agent/create.ts';
import { deleteAiAgent, dropTags, dropTemplate } from './agent/delete.ts';
import { encryptSecretsAgain, printEncryption } from './agent/encrypt-secrets-again.ts';
import { findAiAgents, getAiAgent } from './agent/get.ts';
import { listAiAgents } from './agent/list.ts';
import { type AgentContext, openAgents } from './agent/open.ts';
import { updateAiAgent } from './agent/update.ts';
import { openClients } from './clients.ts';
import { readIntentsConfig } from './config.ts';
import { startAnalyser } from './detection/analyser.ts';
import { readSettings } from './detection/configured.ts';
import { type AnalysisContext, openAnalysis } from './detection/open.ts';
import { analyseTicket, queueAnalyses, requestAnalyses } from './detection/request-analyses.ts';
import { eraseTicket, openDeletedIds, repeatDeletions } from './erase.ts';
import { executeAutomatically } from './execution/automatic.ts';
import { executeIntent } from './execution/execute.ts';
import { openExecution } from './execution/open.ts';
import { finishExecutions } from './execution/run.ts';
import { intentStore } from './intent/store.ts';
import { startLearner } from './learning/learner.ts';
import { type LearningContext, openLearning } from './learning/open.ts';
import { recordLabels } from './learning/record-labels.ts';
import { listSessions } from './session/list.ts';
import { openSessions } from './session/open.ts';
import { noteSessionsAgain, recordSession } from './session/record.ts';
import { setUpStore } from './set-up-store.ts';

const second = 1000;
const minute = 60 * second;

/** The intents service. */
export const service = composeService({
  name: 'intents',
  readConfig: readIntentsConfig,
  readSettings,
  setUpStore,
  compose(kit) {
    const clients = openClients(kit);
    const deleted = openDeletedIds(kit);
    const agent = openAgents(kit, clients, deleted);
    const session = openSessions(kit, clients.analysis, deleted.tickets);
    const intents = intentStore(kit.database.connection, deleted.tickets);
    const learning = openLearning(kit, clients, deleted);
    const { agents, secretBox } = agent;
    const { analysis, extractFeatures } = openAnalysis(kit, clients, { agents, intents, models: learning.source });
    const execution = openExecution(kit, clients, { agents, secretBox, intents });
    const { opened } = kit.database;
    const learner = { snapshots: clients.snapshots, extractFeatures, opened };
    const { analyses } = analysis;
    const { examples, models } = learning;
    const stores = { analyses, intents, sessions: session.sessions, examples };
    return {
      implementations: [
        implement(AiAgentService, agent, {
          createAiAgent,
          deleteAiAgent,
          dropTemplate,
          findAiAgents,
          getAiAgent,
          listAiAgents,
          updateAiAgent,
        }),
        implement(AnalysisService, analysis, { analyseTicket, requestAnalyses }),
        implement(IntentService, execution, { executeIntent }),
        implement(SessionService, session, { listSessions, recordSession }),
      ],
      handle: eventHandler({ analysis, agent, learning }),
      eraseTicket: (id) => eraseTicket(stores, deleted.tickets, id),
      tasks: [
        { name: 'encrypt secrets with the current key', everyMs: minute, run: () => encryptSecretsAgain(agent) },
        {
          name: 'finish executions of processes that have died',
          everyMs: 5 * second,
          run: () => finishExecutions(execution),
        },
        {
          name: 'execute intents automatically',
          everyMs: 5 * second,
          run: () => executeAutomatically(execution, analyses.isPending),
        },
        {
          name: 'read tickets again whose features have another format',
          everyMs: 10 * minute,
          run: () => examples.readAgain(),
        },
        {
          name: 'note again which tickets have sessions',
          everyMs: 24 * 60 * minute,
          run: () => noteSessionsAgain(session),
        },
        {
          name: 'repeat recent deletions',
          everyMs: 10 * minute,
          run: () => repeatDeletions(stores, { agents, models }, deleted, kit.runtime.now()),
        },
      ],
      operations: { 'encrypt-secrets': (print) => printEncryption(agent, print) },
      loops: [
        { role: 'analyser', start: () => startAnalyser(analysis, { opened }) },
        { role: 'analyser', start: () => startLearner(learning, learner) },
      ],
      pending: [{ description: 'tickets are not analysed yet', count: async () => (await analyses.size()).queued }],
    };
  },
});

/** The features that handle events. */
interface Handling {
  analysis: AnalysisContext;
  agent: AgentContext;
  learning: LearningContext;
}

/**
 * Makes the event handler: it queues the analysis of new tickets, drops deleted tags from AI agents and examples, and
 * records labels for the classifier to learn.
 */
function eventHandler({ analysis, agent, learning }: Handling): HandleEvents {
  return async (events) => {
    const changes = events.flatMap(({ topic, value }) =>
      topic === ticketChangedTopic.name ? [fromBinary(TicketChangedSchema, value)] : [],
    );
    const tagIds = deletedTagIds(events);
    await queueAnalyses(analysis, changes);
    await dropTags(agent, tagIds);
    await learning.examples.dropTags(tagIds);
    await recordLabels(learning, changes);
  };
}
