import { buildClient } from '../client/build-client.ts';

buildClient();
