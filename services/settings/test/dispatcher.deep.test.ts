import './dispatcher.int.test.ts';
