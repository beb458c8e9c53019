import './mailer-kill.int.test.ts';
