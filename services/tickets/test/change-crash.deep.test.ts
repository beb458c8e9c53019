import './change-crash.int.test.ts';
