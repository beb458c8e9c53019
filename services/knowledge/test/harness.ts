import { tagChangedTopic } from '@ticketing/contracts/topics.ts';
import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import type { TestResponse } from '@ticketing/testkit/send-request.ts';
import {
  type HarnessOptions,
  type HarnessRequest,
  type ServiceHarness,
  startServiceHarness,
} from '@ticketing/testkit/service-harness.ts';
import { testCall } from '@ticketing/testkit/test-call.ts';
import { expect } from 'vitest';
import { service } from '../src/service.ts';
import { type CalledModel, serveCalled } from './stub-called.ts';

/** A running knowledge service, with a stub of the called services that has the tags 1 to 9 and the AI agents 1 and 2. */
export interface KnowledgeHarness extends ServiceHarness {
  model: CalledModel;
  /** Sends a request of a caller with all rights of this service and the teams 1 and 2. */
  write(method: string, path: string, body?: object, request?: HarnessRequest): Promise<TestResponse>;
  /** Creates a source. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape
  create(fields?: object): Promise<any>;
  /** Reads a source as a caller in teams. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape
  readAs(teams: number[], id: number): Promise<any>;
}

/** A caller with the rights that writing requires. */
export const editor: Partial<Caller> = {
  profileId: 8,
  firstName: 'Grace',
  lastName: 'Hopper',
  permissions: ['manageKnowledge', 'manageSkills'],
  teams: [1, 2],
};

/** A call of the editor, for handlers that a test calls itself. */
export const editorCall = testCall(editor);

/** Starts a knowledge service for one test file. By default it has the role `api` only. */
export async function startHarness(options: HarnessOptions<unknown> = {}): Promise<KnowledgeHarness> {
  const model: CalledModel = {
    tagIds: new Set([1, 2, 3, 4, 5, 6, 7, 8, 9]),
    agentIds: new Set([1, 2]),
    callers: [],
    isUnavailable: false,
  };
  const stub = await serveCalled(model);
  const harness = await startServiceHarness(service, {
    ...options,
    calledPorts: { grpc: stub.port },
    publishes: [tagChangedTopic],
    variables: { ROLES: 'api', ...options.variables },
  });
  const write: KnowledgeHarness['write'] = (method, path, body, request = {}) =>
    harness.request(method, path, { caller: editor, ...(body === undefined ? {} : { body }), ...request });
  return {
    ...harness,
    model,
    write,
    async create(fields = {}) {
      const body = { type: 'faq', name: 'name', title: 'title', ...fields };
      const { status, json } = await write('POST', '/knowledgeSource', body);
      expect(json).toMatchObject({ id: expect.any(Number) });
      expect(status).toBe(201);
      return json;
    },
    readAs: async (teams, id) => (await harness.request('GET', `/knowledgeSource/${id}`, { caller: { teams } })).json,
    async stop() {
      await harness.stop();
      await stub.stop();
    },
  };
}
