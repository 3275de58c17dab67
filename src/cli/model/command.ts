import { Command } from 'commander';
import { modelFreeCommand, type TargetOptions, targetCommand } from '../target.js';
import type { AddOptions } from './actions.js';

export function modelCommand(): Command {
  return new Command('model')
    .description('list, check and add embedding models')
    .addCommand(
      targetCommand('list')
        .description(
          'list the models and the databases that use them; of a server, the models of its databases',
        )
        .examples('cosift model list', 'cosift model list --url http://127.0.0.1:8080')
        .action(async (options: TargetOptions) => (await actions()).list(options)),
    )
    .addCommand(
      targetCommand('verify')
        .description(
          'read the files of a model or reach its endpoint, embed a text, and compare the fingerprint with those of the databases; exit code ' +
            '1 for a problem',
        )
        .argument('[name]', 'the model (default: all)')
        .examples('cosift model verify', 'cosift model verify mine --models mine=models/mine')
        .action(async (name: string | undefined, options: TargetOptions) =>
          (await actions()).verify(name, options),
        ),
    )
    .addCommand(
      modelFreeCommand('add')
        .description('check a model directory and copy it to <data>/models, where every command finds it')
        .argument('<directory>', 'directory in sentence-transformers layout, with an ONNX graph')
        .option('--name <name>', 'name of the model (default: name of the directory)')
        .examples('cosift model add ./e5-small --name e5')
        .action(async (directory: string, options: AddOptions) => (await actions()).add(directory, options)),
    );
}

const actions = () => import('./actions.js');
