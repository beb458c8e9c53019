import { buildClient } from '../tools/client/build-client.ts';

buildClient();
