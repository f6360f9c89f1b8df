import type { CommandSpec } from '../context.ts'

/** Commands for what waits for a person. */
export const answeringCommands: readonly CommandSpec[] = [
  {
    name: 'pending',
    args: '',
    summary: 'questions, permissions and forms that wait for an answer, over all sessions',
    options: [],
    examples: ['headwater pending', 'headwater pending --json'],
    load: () => import('../commands/answering/pending.ts'),
  },
  {
    name: 'answer',
    args: '[interaction]',
    summary: 'answer one of them',
    details: [
      'Options are numbered from 1, as `headwater pending` lists them. --choose is given once per question, in order;',
      'N,M chooses several where the question allows it, 0 leaves a question out. --text answers in words, and fills a form',
      'with a JSON object (or its only field with the text). --deny refuses a permission, or answers no question.',
    ].join('\n'),
    options: [
      { flags: '--choose <n...>', description: 'the chosen option, once per question' },
      { flags: '--text <text>', description: 'an answer in words' },
      { flags: '--deny', description: 'refuse' },
    ],
    examples: [
      'headwater answer INTERACTION --choose 1',
      'headwater answer INTERACTION --choose 2 --choose 1,3 --choose 1',
    ],
    load: () => import('../commands/answering/answer.ts'),
  },
]
