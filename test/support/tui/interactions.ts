import type {
  InteractionOutcome,
  InteractionRequest,
  InteractionSnapshot,
} from '../../../schema/entities/interaction.ts'

/** An interaction that waits. */
export function pendingOf(interactionId: string, request: InteractionRequest): InteractionSnapshot {
  const keys = { interactionId, sessionId: 's1', turnId: 't1', runId: 'r-t1', revision: 1 }
  return { ...keys, request, status: 'pending', outcome: null }
}

/** The answer of another replica. */
export function answeredBy(
  surface: string,
  answer: Extract<InteractionOutcome, { kind: 'answer' }>['answer'],
  at: number,
): InteractionOutcome {
  return { kind: 'answer', answer, by: { surface, clientInstanceId: 'them' }, at }
}

/** Three questions: one choice, several choices or words, words alone. */
export const QUESTIONS = {
  kind: 'question',
  questions: [
    { question: 'Which colour?', options: [{ label: 'red' }, { label: 'blue', description: 'like the sea' }] },
    {
      question: 'Which sizes?',
      options: [{ label: 'small' }, { label: 'large' }],
      multiple: true,
      allowText: true,
    },
    { question: 'Why?', options: [] },
  ],
} as const satisfies InteractionRequest

/** A permission with all four kinds of options. */
export const PERMISSION = {
  kind: 'permission',
  toolCallId: 'call-1',
  title: 'npm test',
  toolKind: 'execute',
  options: [
    { optionId: 'yes', label: 'Allow once', kind: 'allow_once' },
    { optionId: 'always', label: 'Always allow', kind: 'allow_always' },
    { optionId: 'no', label: 'Reject', kind: 'reject_once' },
    { optionId: 'never', label: 'Go away', kind: 'reject_always' },
  ],
} as const satisfies InteractionRequest

/** A form with a field of each kind. */
export const FORM = {
  kind: 'form',
  title: 'Release',
  message: 'What shall be released?',
  schema: {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Name', minLength: 2, maxLength: 5 },
      count: { type: 'integer', minimum: 1, maximum: 9, default: 3 },
      isPublic: { type: 'boolean' },
      channel: {
        type: 'string',
        oneOf: [
          { const: 'a', title: 'Alpha' },
          { const: 'b', title: 'Beta' },
        ],
      },
      parts: { type: 'array', items: { type: 'string', enum: ['docs', 'code'] } },
    },
    required: ['name', 'isPublic'],
  },
} as const satisfies InteractionRequest
