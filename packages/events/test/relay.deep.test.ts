import './relay.int.test.ts';
