import { test } from 'vitest';
import { Command, temporaryDirectory } from '../helpers/processes.js';

test('what Kubernetes injects for that service is passed over with a warning', async () => {
  const command = new Command(['serve', '--port', '0', '--data', await temporaryDirectory()], {
    COSIFT_PORT: 'tcp://10.0.0.1:8080',
    COSIFT_SERVICE_HOST: '10.0.0.1',
    COSIFT_PORT_8080_TCP_ADDR: '10.0.0.1',
  });
  await command.waitFor('stdout', /listening on http:/);
  for (const name of ['COSIFT_PORT', 'COSIFT_SERVICE_HOST', 'COSIFT_PORT_8080_TCP_ADDR']) {
    await command.waitFor('stderr', new RegExp(`warning: environment variable ${name} is ignored`));
  }
});
