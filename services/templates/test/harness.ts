import { tagChangedTopic, ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import type { TestResponse } from '@ticketing/testkit/send-request.ts';
import {
  type HarnessOptions,
  type HarnessRequest,
  type ServiceHarness,
  startServiceHarness,
} from '@ticketing/testkit/service-harness.ts';
import { expect } from 'vitest';
import { service } from '../src/service.ts';
import type { TemplateSettings } from '../src/settings.ts';
import { emptyModel, type ServicesModel, serveModel } from './stub-services.ts';

/** A running templates service, with stubs of the tickets and the settings service. */
export interface TemplatesHarness extends ServiceHarness {
  model: ServicesModel;
  /** The settings of the installation, which a test may change. */
  settings: TemplateSettings;
  /** Sends a request of a caller who may write templates. */
  write(method: string, path: string, body?: unknown, request?: HarnessRequest): Promise<TestResponse>;
  /** Creates a response template or an e-mail template, and returns it. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape
  create(path: '/template' | '/emailTemplate', body: object): Promise<any>;
  /** Removes all templates, their files and e-mail templates, and the calls that the stubs have received. */
  empty(): Promise<void>;
}

/** A caller with the right to write templates. */
export const author = { permissions: ['manageTemplates'] };

/** Starts a templates service for one test file. By default it has the role `api` only. */
export async function startHarness(options: HarnessOptions<TemplateSettings> = {}): Promise<TemplatesHarness> {
  const model = emptyModel();
  const settings: TemplateSettings = { genericTemplateId: undefined, fileMibPerDay: 2048 };
  const stub = await serveModel(model);
  const harness = await startServiceHarness(service, {
    settings: async () => settings,
    ...options,
    calledPorts: { grpc: stub.port },
    usesBus: options.variables?.ROLES !== undefined,
    publishes: [ticketChangedTopic, tagChangedTopic],
    // Time enough for all that ends, however slow the machine is.
    variables: { ROLES: 'api', RENDER_TIMEOUT_MS: '10000', ...options.variables },
  });
  const write: TemplatesHarness['write'] = (method, path, body, request = {}) =>
    harness.request(method, path, { caller: author, ...(body === undefined ? {} : { body }), ...request });
  return {
    ...harness,
    model,
    settings,
    write,
    async create(path, body) {
      const response = await write('POST', path, body);
      expect(response.status, response.text).toBe(201);
      return response.json;
    },
    async empty() {
      for (const name of ['templates', 'emailTemplates', 'fileRecords', 'files.chunks']) {
        await harness.database.collection(name).deleteMany({});
      }
      Object.assign(model, emptyModel());
      settings.genericTemplateId = undefined;
    },
    async stop() {
      await harness.stop();
      await stub.stop();
    },
  };
}
