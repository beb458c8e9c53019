import './conversation-crash.int.test.ts';
