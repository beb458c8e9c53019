import './rpc-endpoints.int.test.ts';
