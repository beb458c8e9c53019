import './execution-kill.int.test.ts';
