import './queue.int.test.ts';
